"""The leak test: another last token, and how far every output of a two-layer encoder of the course moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.labs.masks import MasksParams
from engine.contract.message import say
from engine.contract.report import Bars, Invariant, Scalar
from engine.labs.base import Context, array, close, largest, more_than
from engine.labs.encoder.model import Reader, Shape
from engine.layers.attention import causal_mask

SHAPE = Shape(width=16, heads=2, layers=2, expansion=2, positions="none", norm="post")


@dataclass(frozen=True)
class Net:
    """The encoder, the vectors of a text (n, 16) and the same with another last token, float64."""

    reader: Reader
    inputs: Tensor
    changed: Tensor

    def states(self, inputs: Tensor, allowed: Tensor | None) -> Tensor:
        """Return the states (n, 16) under a mask that is True where a token may attend."""
        states: Tensor = self.reader.encoder(inputs, allowed)[0]
        return states

    def moved(self, allowed: Tensor | None) -> Tensor:
        """Return how far each state moves when the last token changes, (n,)."""
        return (self.states(self.changed, allowed) - self.states(self.inputs, allowed)).abs().amax(-1)


def draw(n: int, context: Context) -> Net:
    """Return the encoder and its two texts."""
    generator = context.generator("encoder")
    reader = Reader(nn.Embedding(1, SHAPE.width), SHAPE, n, generator, std=0.0).double().eval()
    inputs = context.normal("text", n, SHAPE.width)
    changed = torch.cat((inputs[:-1], context.normal("another token", 1, SHAPE.width)))
    return Net(reader, inputs, changed)


def bars(moved: Tensor) -> Bars:
    """Return the picture of the leak."""
    labels = tuple(str(i + 1) for i in range(len(moved)))
    title = say("Leak test: how far each output moves when the last token changes")
    return Bars("leak", title, labels, array(moved), say("largest change"))


def values(moved: Tensor) -> dict[str, Scalar]:
    """Return the leak of every position, and whether an earlier one moves at all."""
    return {"leak": moved.tolist(), "leak_earlier": largest(moved[:-1]), "leaks": bool(moved[:-1].any())}


def invariants(net: Net, moved: Tensor, params: MasksParams) -> Iterator[Invariant]:
    """Check what the mask lets through; the causal mask and none at all are always compared."""
    causal, free = net.moved(causal_mask(params.n)), net.moved(None)
    yield close(say("with the causal mask no earlier output moves"), causal[:-1], 0.0)
    yield more_than(say("without a mask every output moves"), free.min().item(), 1e-6)
    right_padding = params.kind == "padding" and params.shape == "right"
    if right_padding or params.kind in ("causal", "both"):
        name = say("with the mask that is shown no earlier output moves")
        if params.kind == "both" and params.shape == "naive":
            name = say("the causal half of the mask keeps earlier outputs in place")
        yield close(name, moved[:-1], 0.0)
