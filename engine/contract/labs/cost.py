"""Declares the lab `cost`: what a layer costs in operations, memory, weights and time, against a recurrent one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer
from engine.contract.message import say
from engine.contract.parameters import Params, Problem, divisors_up_to

MOST_HEADS = 16
LONGEST_TIMED = 1024
TIMED_WIDTH, TIMED_HEADS, ROUNDS = 64, 4, 15


class CostParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `cost`; times are measured at width 64, with 4 heads and 4-fold expansion."""

    n: Annotated[int, Integer(say("sequence length n"), 8, 8192)] = 128
    d: Annotated[int, Integer(say("width d"), 16, 1024)] = 64
    expansion: Annotated[int, Integer(say("expansion of the feed-forward network"), 1, 8)] = 4
    layers: Annotated[int, Integer(say("number of layers"), 1, 48)] = 1
    heads: Annotated[int, Choice(say("number of heads"), tuple(range(1, MOST_HEADS + 1)))] = 4
    show: Annotated[
        str,
        Choice(
            say("what to show"),
            ("FLOPs", "memory", "weights", "wall-clock"),
            (say("operations"), say("memory"), say("weights"), say("time, measured")),
        ),
    ] = "FLOPs"

    def problems(self) -> Iterator[Problem]:
        """Yield heads that do not divide the width, or a length that takes too long to time."""
        if self.show == "wall-clock":
            if self.n > LONGEST_TIMED:
                message = say(
                    "n is {n}, but times are measured for at most {most} tokens.", n=self.n, most=LONGEST_TIMED
                )
                yield Problem("n", message)
            return
        valid = divisors_up_to(self.d, MOST_HEADS)
        if self.heads not in valid:
            message = say(
                "{heads} heads cannot share a width of {width} equally; choose one of: {valid}.",
                heads=self.heads,
                width=self.d,
                valid=", ".join(map(str, valid)),
            )
            yield Problem("heads", message)

    def options(self, field: str) -> tuple[int, ...] | None:
        """Offer only numbers of heads that divide the width."""
        return divisors_up_to(self.d, MOST_HEADS) if field == "heads" else None

    def relevant(self, field: str) -> bool:
        """What is timed has a fixed width."""
        return self.show != "wall-clock" or field in ("n", "show")


def estimate(params: CostParams) -> Cost:
    """Only the clock takes time: an LSTM reads step by step, an encoder layer compares all pairs."""
    if params.show != "wall-clock":
        return Cost(seconds=0.2)
    lengths = [n for n in (16, 64, 256, params.n) if n <= params.n]
    step = sum(2e-3 + 40e-6 * n + 30e-9 * n * n for n in lengths)
    return Cost(seconds=0.1 + (ROUNDS + 1) * step, bytes=6 * 4 * TIMED_HEADS * params.n**2)


LAB = Lab(
    name="cost",
    title=say("Cost calculator"),
    notice=say(
        "Fewer steps one after another, not fewer operations: on one core the LSTM is faster at every length measured."
    ),
    parameters=CostParams,
    estimate=estimate,
    lessons=("cost",),
    runs_on="any",
)
