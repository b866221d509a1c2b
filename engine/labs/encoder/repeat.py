"""Two passes over the same text: equal in eval mode; in train mode dropout makes another picture each time."""

from __future__ import annotations

import torch

from engine.contract.message import say
from engine.contract.report import Column, Heatmap, Scalar, Table
from engine.labs.base import array, largest
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View, layer_by_head


def view(look: Look) -> View:
    """Show the largest change of each head's weights, and the most changed map of the last layer twice."""
    states, first = look.read(1)
    again, second = look.read(2)
    apart = [
        (one.attention.weights - other.attention.weights).abs()
        for one, other in zip(first.blocks, second.blocks, strict=True)
    ]  # each (heads, n, n)
    changes = torch.stack([layer.amax((-2, -1)) for layer in apart])  # (layers, heads)
    variation = torch.stack([layer.sum(-1).mean() / 2 for layer in apart])  # (layers,)
    head = int(changes[-1].argmax())
    maps = tuple(
        Heatmap(
            f"pass-{number}",
            say("Pass {number}: last layer, head {head}", number=number, head=head + 1),
            array(trace.blocks[-1].attention.weights[head]),
            look.labels,
            look.labels,
            say("queries"),
            say("keys"),
            0.0,
            1.0,
            group="passes",
        )
        for number, trace in ((1, first), (2, second))
    )
    columns = (
        Column(say("layer"), "d"),
        Column(say("largest change of a weight"), ".4f"),
        Column(say("total variation of a row, mean"), ".4f"),
    )
    rows = tuple(zip(range(1, len(apart) + 1), changes.amax(-1).tolist(), variation.tolist(), strict=True))
    values: dict[str, Scalar] = {
        "largest_change": largest(changes),
        "variation": variation.mean().item(),
        "states_change": largest(states - again),
        "passes_identical": largest(changes) == 0.0 and largest(states - again) == 0.0,
    }
    picture = layer_by_head(
        "changes", say("Largest change of a weight from pass to pass"), changes, largest(changes) or 1.0
    )
    return View((*maps, picture, Table("repeat", say("Two passes, the same text"), columns, rows)), values)
