"""Computes the lab `masks`: what a mask lets through, what it makes of a blocked row, and whose True means what."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.contract.labs.masks import MasksParams
from engine.contract.report import Event, Note, Panel, Report
from engine.labs.base import Context
from engine.labs.masks import batch, conventions, leak, rows


@torch.no_grad()
def run(params: MasksParams, context: Context) -> Iterator[Event]:
    """Yield the report of one mask."""
    allowed = rows.mask(params)
    net = leak.draw(params.n, context)
    moved = net.moved(allowed)
    known = conventions.conventions(net)
    checked = {convention.id: conventions.check(convention, net, allowed) for convention in known}
    context.check()
    shown = rows.shown_message(params)
    panels: tuple[Panel, ...] = (
        *((Note("shown", shown),) if shown else ()),
        *rows.panels(params, allowed),
        leak.bars(moved),
        conventions.table(checked, known),
        batch.table(),
    )
    values = rows.values(params, allowed) | leak.values(moved) | batch.values() | conventions.values(checked)
    invariants = (
        *rows.invariants(params, allowed),
        *leak.invariants(net, moved, params),
        *batch.invariants(),
        *conventions.invariants(checked),
    )
    yield Report(panels, values, invariants)
