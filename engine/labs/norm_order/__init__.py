"""Computes the lab `norm-order`: residual and norm in four arrangements, before the first step and in training.

    post-norm LN(x + F(x))      pre-norm x + F(LN(x))      no residual LN(F(x))      no norm x + F(x)

Every matrix starts Xavier-uniform. The explosion without norm depends on that: from PyTorch's own start it hardly
shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.norm_order import NormOrderParams
from engine.contract.message import say
from engine.contract.report import Event, Panel, Progress, Report
from engine.labs.base import Context
from engine.labs.norm_order import start, training
from engine.labs.norm_order.stack import LABELS
from engine.training.loop import train


def run(params: NormOrderParams, context: Context) -> Iterator[Event]:
    """Yield the start of each order, then its training when that is asked for."""
    starts: dict[str, start.Start] = {}
    for number, order in enumerate(params.order):
        if not params.train:
            yield Progress(number / len(params.order), say("the start: {order}", order=LABELS[order]))
        starts[order] = start.measure(order, params, context)
    panels: tuple[Panel, ...] = start.panels(starts)
    values = start.values(starts)
    invariants = tuple(start.invariants(starts, params))
    if params.train:
        runs = {order: training.trainer(order, params, context) for order in params.order}
        yield from train(
            list(runs.values()),
            lambda number: [training.draw(number, context)],
            params.steps,
            check=context.check,
            panels=lambda: (training.losses(runs, params.steps),),
        )
        panels = (*training.panels(runs, params.steps), *panels)
        values |= training.values(runs)
        invariants = (*invariants, *training.invariants(runs, params))
    yield Report(panels, values, invariants)
