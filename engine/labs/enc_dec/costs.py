"""Multiply-adds of generating the target token by token, with and without the cache, counted as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.contract.message import say
from engine.contract.report import Column, Table
from engine.flops import FlopCounter
from engine.labs.enc_dec.passes import Model
from engine.layers.decoder import DecoderCache


@dataclass(frozen=True)
class Costs:
    """Multiply-adds of every step, the encoder's one pass aside."""

    again: tuple[int, ...]
    cached: tuple[int, ...]


def measure(model: Model) -> Costs:
    """Count the steps of both ways."""
    exact, target = model.exact, model.target
    memory, _ = exact.encode(model.source)
    again, cached = [], []
    cache: Sequence[DecoderCache] | None = None
    for end in range(1, len(target) + 1):
        with FlopCounter() as counter:
            exact.decode(target[:end], memory)
        again.append(counter.total // 2)
        with FlopCounter() as counter:
            _, trace = exact.decode(target[end - 1 : end], memory, cache=cache)
        cached.append(counter.total // 2)
        cache = trace.cache
    return Costs(tuple(again), tuple(cached))


def table(costs: Costs) -> Table:
    """Return one row per generated token, and the sums."""
    columns = (
        Column(say("token")),
        Column(say("tokens read without cache"), "d"),
        Column(say("multiply-adds without cache"), ",d"),
        Column(say("multiply-adds with cache"), ",d"),
    )
    rows = [
        (str(number), number, again, cached)
        for number, (again, cached) in enumerate(zip(costs.again, costs.cached, strict=True), start=1)
    ]
    count = len(rows)
    total = (say("together"), count * (count + 1) // 2, sum(costs.again), sum(costs.cached))
    return Table("costs", say("What generating costs the decoder"), columns, (*rows, total))
