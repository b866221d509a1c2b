"""The two exact ways: online softmax keeps no row of scores, reversible layers keep no activations."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.contract.labs.long_context import LongContextParams
from engine.contract.message import say
from engine.contract.report import Column, Invariant, Report, Scalar, Table
from engine.labs.base import Context, close, equal, more_than
from engine.layers import reversible
from engine.layers.attention import attend, causal_mask
from engine.layers.feed_forward import FeedForward
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.online_softmax import attend_in_blocks

LENGTH, WIDTH, HEADS = 64, 16, 2
BLOCKS = (1, 7, 16, 48, 64, 100)
LARGE = 1000.0  # times the scores


def streaming_report(params: LongContextParams, context: Context) -> Report:
    """Causal attention in blocks against attention in one go, for ordinary and for huge scores."""
    query, key, value = (context.normal(name, LENGTH, WIDTH) for name in ("query", "key", "value"))
    mask = causal_mask(LENGTH)
    rows: list[tuple[int, float, float, int, str]] = []
    for block in sorted({*BLOCKS, params.block}):
        context.check()
        errors = [_relative_error(query * size, key, value, mask, block) for size in (1.0, LARGE)]
        rows.append((block, errors[0], errors[1], LENGTH * min(block, LENGTH), "←" if block == params.block else ""))
    columns = (
        Column(say("block"), "d"),
        Column(say("error"), ".1e"),
        Column(say("error, scores × 1000"), ".1e"),
        Column(say("scores held"), ",d"),
        Column(say("here")),
    )
    title = say("In blocks against in one go: {n} tokens, {full:,} scores", n=LENGTH, full=LENGTH**2)
    own = next(row for row in rows if row[0] == params.block)
    values: dict[str, Scalar] = {
        "error": own[1],
        "error_large": own[2],
        "largest_error": max(row[1] for row in rows),
        "scores_held": own[3],
        "scores_full": LENGTH**2,
    }
    full, _ = attend(query, key, value, mask)
    blind = torch.zeros(1, LENGTH, dtype=torch.bool)
    unseen = attend_in_blocks(query[:1], key, value, params.block, blind)
    invariants: tuple[Invariant, ...] = (
        equal(
            say("in blocks of {block} the output is the same", block=params.block),
            attend_in_blocks(query, key, value, params.block, mask),
            full,
            1e-12,
        ),
        close(say("the largest error of any block is rounding"), max(row[1] for row in rows), 1e-12),
        close(say("a query that may see nothing gets zero, not NaN"), unseen, 0),
    )
    return Report((Table("streaming", title, columns, tuple(rows)),), values, invariants)


def reversible_report(params: LongContextParams, context: Context) -> Report:
    """A stack of reversible layers forward and back: what must be kept, and how exactly the inputs return."""
    inputs = context.normal("first", LENGTH, WIDTH), context.normal("second", LENGTH, WIDTH)
    generator = context.generator("weights")
    layers = [_halves(generator) for _ in range(params.layers)]
    outputs = inputs
    with torch.no_grad():
        for attention, feed_forward in layers:
            outputs = reversible.forward(*outputs, attention, feed_forward)
        back = outputs
        for attention, feed_forward in reversed(layers):
            back = reversible.backward(*back, attention, feed_forward)
    context.check()
    errors = [float((one - other).norm() / other.norm()) for one, other in zip(back, inputs, strict=True)]
    kept = 2 * LENGTH * WIDTH
    stored = kept * (params.layers + 1)
    rows = (
        (say("relative error of the input, computed back"), max(errors)),
        (say("numbers kept between layers, reversible"), kept),
        (say("numbers kept between layers, ordinary"), stored),
        (say("forward evaluations in a training step, reversible"), 2 * params.layers),
        (say("forward evaluations in a training step, ordinary"), params.layers),
    )
    columns = (Column(say("quantity")), Column(say("value"), ".4g"))
    title = say("{layers} reversible layers forward and back", layers=params.layers)
    values: dict[str, Scalar] = {"error": max(errors), "kept": kept, "stored": stored}
    change = float((outputs[0] - inputs[0]).norm() / inputs[0].norm())
    invariants = (
        equal(say("the first half of the input comes back"), back[0], inputs[0], 1e-12),
        equal(say("the second half of the input comes back"), back[1], inputs[1], 1e-12),
        more_than(say("the layers change what they read"), change, 0.01),
    )
    return Report((Table("reversible", title, columns, rows),), values, invariants)


def _relative_error(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, block: int) -> float:
    full, _ = attend(query, key, value, mask)
    difference = attend_in_blocks(query, key, value, block, mask) - full
    return float(difference.norm() / full.norm())


def _halves(generator: torch.Generator) -> tuple[reversible.Half, reversible.Half]:
    """Return F, an attention layer, and G, a feed-forward network, both untrained."""
    attention = MultiHeadAttention(WIDTH, HEADS, generator=generator, dtype=torch.float64)
    feed_forward = FeedForward(WIDTH, 4 * WIDTH, generator=generator).double()
    return (lambda stream: attention(stream)[0]), (lambda stream: feed_forward(stream)[0])
