"""How far back an output can look: through windows, and through the memory of earlier segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.long_context import LongContextParams
from engine.contract.message import say
from engine.contract.report import Column, Detail, Heatmap, Invariant, Panel, Report, Scalar, Table
from engine.gradients.influence import influence
from engine.labs.base import Context, array, close
from engine.layers.masks import local_causal_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.segment_memory import read_in_segments

LENGTH, WIDTH, HEADS = 64, 8, 2
MOST_LAYERS = 4


@dataclass(frozen=True)
class Reach:
    """How much each position depends on each other (64, 64), and how many tokens reach the position `asked`."""

    depends: Tensor
    asked: int

    @property
    def tokens(self) -> int:
        """Return the number of tokens that reach the position, itself included."""
        return int((self.depends[self.asked] > 0).sum())


def window_rule(layers: int, window: int) -> int:
    """Return how many tokens reach the last one through `layers` windows."""
    return min(LENGTH, layers * (window - 1) + 1)


def memory_rule(layers: int, memory: int, segment: int) -> int:
    """Return how many tokens reach the last of a segment: a state in memory contains its whole own segment.

    layers · m + s when m is a multiple of s, layers · s + m when m ≤ s.
    """
    position = 0  # counted from the beginning of the segment
    for _ in range(layers):
        position = segment * (position // segment) - memory
    return segment - position


def window_reach(layers: int, window: int, context: Context) -> Reach:
    stack = _stack(layers, context)
    mask = local_causal_mask(LENGTH, window)

    def read(stream: Tensor) -> Tensor:
        for layer in stack:
            stream = stream + layer(stream, mask)[0]
        return stream

    return Reach(_influence(read, context), LENGTH - 1)


def memory_reach(layers: int, memory: int, segment: int, context: Context) -> Reach:
    """The gradient is let into the memory here: the question is what it carries."""
    stack = _stack(layers, context)

    def read(stream: Tensor) -> Tensor:
        context.check()
        return read_in_segments(stack, stream, segment, memory, detach=lambda state: state)

    return Reach(_influence(read, context), LENGTH - LENGTH % segment - 1)


def reach_report(params: LongContextParams, context: Context) -> Report:
    """The reach of the chosen method with the chosen number of layers, and by the rule for 1 to 4."""
    if params.method == "window":
        reach = window_reach(params.layers, params.window, context)
        rules = [window_rule(layers, params.window) for layers in range(1, MOST_LAYERS + 1)]
    else:
        reach = memory_reach(params.layers, params.memory, params.segment, context)
        rules = [memory_rule(layers, params.memory, params.segment) for layers in range(1, MOST_LAYERS + 1)]
    rule = rules[params.layers - 1]
    rows = tuple((layers, number, "←" if layers == params.layers else "") for layers, number in enumerate(rules, 1))
    columns = (Column(say("layers"), "d"), Column(say("tokens in reach"), "d"), Column(say("here")))
    panels: tuple[Panel, ...] = (
        _picture(reach, params.layers),
        Table("reach", say("Tokens that reach the last one, itself included"), columns, rows),
    )
    values: dict[str, Scalar] = {
        "reach": reach.tokens,
        "rule": rule,
        "rules": [float(number) for number in rules],
        "asked": reach.asked + 1,
    }
    name = say("as many tokens reach the last one as the rule says")
    seen = reach.depends[reach.asked, : reach.asked + 1]
    without_gap = bool((seen[len(seen) - reach.tokens :] > 0).all())
    future = int((reach.depends.triu(1) > 0).sum())
    invariants: tuple[Invariant, ...] = (
        close(name, reach.tokens - rule, 0),
        close(say("the reach has no gap"), 0 if without_gap else 1, 0),
        close(say("nothing depends on what comes later"), future, 0),
    )
    return Report(panels, values, invariants)


def _stack(layers: int, context: Context) -> list[MultiHeadAttention]:
    generator = context.generator("weights")
    return [MultiHeadAttention(WIDTH, HEADS, generator=generator, dtype=torch.float64) for _ in range(layers)]


def _influence(read: Callable[[Tensor], Tensor], context: Context) -> Tensor:
    inputs = context.normal("inputs", LENGTH, WIDTH)
    return influence(read, inputs, context.generator("mixture"))


def _picture(reach: Reach, layers: int) -> Heatmap:
    return Heatmap(
        "reach-picture",
        say("Which token depends on which, {layers} layers", layers=layers),
        array((reach.depends > 0).double()),
        (),
        (),
        say("outputs"),
        say("inputs"),
        0.0,
        1.0,
        details=(Detail(say("dependence"), array(reach.depends)),),
    )
