"""Computes the lab `enc-dec`: a Transformer in one pass, token by token and with a cache, and who may see what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.enc_dec import EncDecParams
from engine.contract.message import say
from engine.contract.report import Column, Event, Invariant, Panel, Report, Scalar, Table
from engine.labs.base import Context, at_most, close, equal, largest, more_than, not_checked
from engine.labs.enc_dec import costs, passes, shapes, sizes
from engine.labs.enc_dec.passes import Model, cached, draw, parallel, stepwise
from engine.layers.attention import causal_mask
from engine.layers.transformer import Transformer, TransformerTrace

LEAST_CHANGE = 0.01  # of a state; usually it is 0.3 and more


@dataclass(frozen=True)
class Compared:
    """Logits (T, V) of the ways to read, in float64 and float32; states (T, d) with and without the causal mask; logits
    without positions for the source as it is and shuffled."""

    parallel: Tensor
    trace: TransformerTrace
    stepwise: Tensor
    cached: Tensor
    single_parallel: Tensor
    single_stepwise: Tensor
    causal: Tensor
    unmasked: Tensor
    shuffled: tuple[Tensor, Tensor]
    shuffled_single: tuple[Tensor, Tensor]
    shuffled_with_positions: Tensor


@torch.no_grad()
def run(params: EncDecParams, context: Context) -> Iterator[Event]:
    """Yield the report of one model."""
    model = draw(params, context)
    compared = _compare(model, context)
    context.check()
    counted = costs.measure(model)
    context.check()
    panels: tuple[Panel, ...] = (
        *shapes.maps(compared.trace),
        shapes.table(model, compared.trace, compared.parallel),
        _differences(compared),
        costs.table(counted),
        sizes.table(model),
    )
    values = _values(compared, counted, params) | sizes.values(model)
    yield Report(panels, values, tuple(_invariants(compared, counted, params)))


def _compare(model: Model, context: Context) -> Compared:
    source, target = model.source, model.target
    order = _shuffled(len(source), context)
    logits, trace = parallel(model.exact, source, target)
    single, single_trace = parallel(model.single, source, target)

    def both(transformer: Transformer) -> tuple[Tensor, Tensor]:
        """Logits for the source in its order and shuffled."""
        return parallel(transformer, source, target)[0], parallel(transformer, source[order], target)[0]

    return Compared(
        parallel=logits,
        trace=trace,
        stepwise=stepwise(model.exact, trace.memory, target),
        cached=cached(model.exact, trace.memory, target),
        single_parallel=single,
        single_stepwise=stepwise(model.single, single_trace.memory, target),
        causal=passes.states(model.exact, trace.memory, target, causal_mask(len(target))),
        unmasked=passes.states(model.exact, trace.memory, target, None),
        shuffled=both(model.placeless),
        shuffled_single=both(model.placeless_single),
        shuffled_with_positions=both(model.exact)[1],
    )


def _shuffled(count: int, context: Context) -> Tensor:
    """Return an order of the source that is not its own."""
    generator = context.generator("shuffle")
    order = torch.randperm(count, generator=generator)
    return order.flip(0) if bool((order == torch.arange(count)).all()) else order


def _relative(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm())


def _differences(compared: Compared) -> Table:
    rows = (
        (say("token by token against one pass, float64"), _relative(compared.stepwise, compared.parallel)),
        (
            say("token by token against one pass, float32"),
            _relative(compared.single_stepwise, compared.single_parallel),
        ),
        (say("with the cache against without, float64"), _relative(compared.cached, compared.stepwise)),
        (say("source shuffled, no positions"), _relative(*compared.shuffled[::-1])),
        (say("source shuffled, with positions"), _relative(compared.shuffled_with_positions, compared.parallel)),
        (say("without the causal mask"), _relative(compared.unmasked, compared.causal)),
    )
    columns = (Column(say("comparison")), Column(say("relative difference"), ".1e"))
    return Table("differences", say("What changes the output and what does not"), columns, rows)


def _values(compared: Compared, counted: costs.Costs, params: EncDecParams) -> dict[str, Scalar]:
    """`…_difference` are relative; `unmasked_change` is the largest change of a state without the causal mask."""
    shuffle = _relative(*compared.shuffled[::-1])
    return {
        "stepwise_difference": _relative(compared.stepwise, compared.parallel),
        "stepwise_difference_float32": _relative(compared.single_stepwise, compared.single_parallel),
        "cache_difference": _relative(compared.cached, compared.stepwise),
        "shuffle_difference": shuffle,
        "shuffle_changes": shuffle > 1e-9,
        "shuffle_difference_positions": _relative(compared.shuffled_with_positions, compared.parallel),
        "unmasked_change": largest(compared.unmasked - compared.causal),
        "multiply_adds": sum(counted.cached if params.cache else counted.again),
        "multiply_adds_cached": sum(counted.cached),
        "multiply_adds_uncached": sum(counted.again),
    }


def _invariants(compared: Compared, counted: costs.Costs, params: EncDecParams) -> Iterator[Invariant]:
    chosen = compared.cached if params.cache else compared.stepwise
    yield equal(say("token by token gives the logits of one pass, float64"), chosen, compared.parallel, 1e-10)
    name = say("token by token gives the logits of one pass, float32")
    yield equal(name, compared.single_stepwise, compared.single_parallel, 1e-5)
    yield equal(say("the cache changes no logit"), compared.cached, compared.stepwise, 1e-10)
    yield at_most(say("the cache saves work"), sum(counted.cached), sum(counted.again))
    plain, shuffled = compared.shuffled
    yield equal(say("without positions the order of the source does not matter, float64"), shuffled, plain, 1e-10)
    plain, shuffled = compared.shuffled_single
    yield equal(say("without positions the order of the source does not matter, float32"), shuffled, plain, 1e-5)
    blocks = compared.trace.decoder.blocks
    above = torch.stack([block.self_attention.weights.triu(1) for block in blocks])
    yield close(say("the decoder's self-attention has nothing above its diagonal"), above, 0.0)
    sums = torch.stack([block.cross_attention.weights.sum(-1) for block in blocks])
    yield close(say("every row of the cross-attention sums to 1"), sums - 1, 1e-12)
    name = say("without the causal mask the states change")
    if params.tgt < 2:
        yield not_checked(name, say("one target token has no future to see"))
    else:
        yield more_than(name, largest(compared.unmasked - compared.causal), LEAST_CHANGE)
