"""Computes the lab `shuffle`: f(PX) against P f(X) for one attention layer f and a permutation P of the words.

Without positions and mask attention is permutation equivariant, f(PX) = P f(X). Row i of PX is row permutation[i] of X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import torch
from torch import Tensor

from engine.contract.labs.shuffle import ShuffleParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Detail, Event, Heatmap, Invariant, Note, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, close, largest, more_than, not_checked
from engine.layers.attention import attend, causal_mask
from engine.layers.positional import sinusoidal

WIDTH = 8
EQUIVARIANT = say("the output of the shuffled words is the shuffled output")
ORDERED = say("another order of the words gives other rows")
POOLED = say("the mean over the words does not depend on their order")
REPEATED = say("repeated words have identical rows")


@dataclass(frozen=True)
class Layer:
    """One self-attention layer of width 8, weights (3, 8, 8) for Q, K and V, with or without positions and mask."""

    weights: Tensor
    positions: bool
    causal: bool

    def __call__(self, embeddings: Tensor) -> Tensor:
        """Return the outputs, (n, 8)."""
        length = len(embeddings)
        inputs = embeddings + sinusoidal(length, WIDTH) if self.positions else embeddings
        query, key, value = inputs @ self.weights  # each (n, 8)
        output, _ = attend(query, key, value, causal_mask(length) if self.causal else None)
        return output


@dataclass(frozen=True)
class Comparison:
    """The outputs (n, 8) for both orders, and the differences the lab reports."""

    tokens: list[str]
    order: list[int]
    original: Tensor
    shuffled: Tensor

    @property
    def error(self) -> float:
        """max |f(PX) − P f(X)|."""
        return largest(self.shuffled - self.original[self.order])

    @property
    def pooled_difference(self) -> float:
        """Largest difference of the two means over the words."""
        return largest(self.shuffled.mean(0) - self.original.mean(0))

    @property
    def repeated_difference(self) -> float:
        """Largest difference between the rows of a repeated word; NaN when no word is repeated."""
        first = {token: i for i, token in reversed(list(enumerate(self.tokens)))}
        pairs = [(i, first[token]) for i, token in enumerate(self.tokens) if first[token] != i]
        if not pairs:
            return float("nan")
        return max(largest(self.original[i] - self.original[j]) for i, j in pairs)

    @property
    def words_moved(self) -> bool:
        """Whether the permutation changes the sequence of words at all."""
        return [self.tokens[i] for i in self.order] != self.tokens


def run(params: ShuffleParams, context: Context) -> Iterator[Event]:
    """Yield the report of the comparison."""
    tokens = tokenize(params.text)
    order = list(params.permutation) or _draw_order(tokens, context)
    layer = Layer(_draw_weights(context), params.pe == "sinusoid", params.mask == "causal")
    embeddings = context.word_vectors(tokens, WIDTH)  # (n, 8)
    compared = Comparison(tokens, order, layer(embeddings), layer(embeddings[order]))
    ordered = layer.positions or layer.causal
    checks = _order_checks(compared, not params.permutation) if ordered else _equivariance_checks(compared)
    follow = compared.error <= 1e-12
    values: dict[str, Scalar] = {
        "error": compared.error,
        "pooled_difference": compared.pooled_difference,
        "repeated_difference": compared.repeated_difference,
        "rows_follow": follow,
    }
    panels = (*_panels(compared), _numbers(compared), Note("result", _conclusion(follow)))
    yield Report(panels, values, tuple(checks))


def _draw_weights(context: Context) -> Tensor:
    """Draw W_Q, W_K and W_V (3, 8, 8); with scores of variance about 1 no word keeps all attention to itself."""
    sizes = torch.tensor([WIDTH**-0.5, WIDTH**-0.5, 1.0], dtype=torch.float64)
    return context.normal("weights", 3, WIDTH, WIDTH) * sizes[:, None, None]


def _draw_order(tokens: list[str], context: Context) -> list[int]:
    """Draw a permutation that is not the identity and, when the words differ at all, moves some of them."""
    generator = context.generator("permutation")
    while True:
        order: list[int] = torch.randperm(len(tokens), generator=generator).tolist()
        if order != sorted(order) and (len(set(tokens)) == 1 or [tokens[i] for i in order] != tokens):
            return order


def _panels(compared: Comparison) -> tuple[Heatmap, Heatmap]:
    labels = axis_labels(compared.tokens)
    bound = max(largest(compared.original), largest(compared.shuffled))
    features = tuple(str(i + 1) for i in range(WIDTH))
    before = compared.original[compared.order]
    original = Heatmap(
        id="original",
        title=say("Outputs in the original order"),
        values=array(compared.original),
        row_labels=tuple(labels),
        column_labels=features,
        row_axis=say("words"),
        column_axis=say("features"),
        minimum=-bound,
        maximum=bound,
        scale="diverging",
    )
    shuffled = msgspec.structs.replace(
        original,
        id="shuffled",
        title=say("Outputs of the shuffled words"),
        values=array(compared.shuffled),
        row_labels=tuple(labels[i] for i in compared.order),
        details=(
            Detail(say("same word before"), array(before)),
            Detail(say("difference"), array(compared.shuffled - before)),
        ),
    )
    return original, shuffled


def _numbers(compared: Comparison) -> Table:
    rows = (
        (say("largest |f(PX) − P f(X)|"), compared.error),
        (say("difference of the means over the words"), compared.pooled_difference),
        (say("difference between rows of a repeated word"), compared.repeated_difference),
    )
    return Table("errors", say("Differences"), (Column(say("quantity")), Column(say("value"), ".2e")), rows)


def _conclusion(follow: bool) -> Message:
    if follow:
        return say("The same rows, in the order of the words.")
    return say("The rows themselves changed: the layer knows the order.")


def _equivariance_checks(compared: Comparison) -> Iterator[Invariant]:
    yield close(EQUIVARIANT, compared.error, 1e-12)
    yield close(POOLED, compared.pooled_difference, 1e-12)
    if len(set(compared.tokens)) == len(compared.tokens):
        yield not_checked(REPEATED, say("no word is repeated"))
    else:
        yield close(REPEATED, compared.repeated_difference, 1e-12)


def _order_checks(compared: Comparison, drawn: bool) -> Iterator[Invariant]:
    if not compared.words_moved:
        yield not_checked(ORDERED, say("the permutation leaves the words as they were"))
        return
    # An order written by hand may exchange two neighbours only, and two words may ignore each other almost entirely.
    yield more_than(ORDERED, compared.error, 0.1 if drawn and len(compared.tokens) == 6 else 1e-6)
