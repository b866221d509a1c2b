"""A part of the report of `encoder`, and the picture that several parts share: one number per layer and head."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.report import Heatmap, Invariant, Panel, Scalar
from engine.labs.base import array


@dataclass(frozen=True)
class View:
    """What a view adds to the report."""

    panels: tuple[Panel, ...] = ()
    values: dict[str, Scalar] = field(default_factory=dict)
    invariants: tuple[Invariant, ...] = ()


def layer_by_head(id: str, title: Message, numbers: Tensor, maximum: float) -> Heatmap:
    """Return a picture of numbers (layers, heads) from 0 to `maximum`."""
    layers, heads = numbers.shape
    return Heatmap(
        id,
        title,
        array(numbers),
        tuple(str(layer + 1) for layer in range(layers)),
        tuple(str(head + 1) for head in range(heads)),
        say("layer"),
        say("head"),
        0.0,
        maximum,
    )
