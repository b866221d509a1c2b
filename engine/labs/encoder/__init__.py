"""Computes the lab `encoder`: every map of every layer of an encoder, and what one may conclude from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.contract.labs.encoder import EncoderParams
from engine.contract.report import Event, Report
from engine.labs.base import Context
from engine.labs.encoder import ablation, checks, counts, entropies, judged, maps, parity, repeat, rollout
from engine.labs.encoder.look import Look, look
from engine.labs.encoder.view import View

VIEWS: dict[str, Callable[[Look], View]] = {
    "maps": maps.view,
    "entropy": entropies.view,
    "rollout": rollout.view,
    "ablation": ablation.view,
    "repeat": repeat.view,
    "parity": parity.view,
}


def run(params: EncoderParams, context: Context) -> Iterator[Event]:
    """Yield the progress of a training, if there is one, and the report of the chosen view."""
    seen = yield from look(params, context)
    parts = [VIEWS[params.view](seen), judged.view(seen), counts.view(seen), checks.view(seen)]
    context.check()
    values = {name: value for part in parts for name, value in part.values.items()}
    panels = tuple(panel for part in parts for panel in part.panels)
    yield Report(panels, values, tuple(invariant for part in parts for invariant in part.invariants))
