"""Declares the lab `additive-attention`: three decoder states look back at a source sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import refuse_tokens

SOURCE = Text(say("source"), zh="我 爱 吃 红 苹果", en="we like to eat apples")


class AdditiveAttentionParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `additive-attention`; the hand case brings its own states and widths."""

    weights: Annotated[
        str,
        Choice(
            say("weights"),
            ("random", "zero", "hand-case"),
            (say("random, untrained"), say("all zero"), say("by hand")),
        ),
    ] = "random"
    src: Annotated[str, SOURCE] = ""
    d_s: Annotated[int, Integer(say("decoder width d_s"), 2, 8)] = 4
    d_h: Annotated[int, Integer(say("encoder width d_h"), 2, 8)] = 6
    d_a: Annotated[int, Integer(say("width of the comparison d_a"), 2, 8)] = 4
    temperature: Annotated[float, Real(say("temperature τ"), 0.1, 5.0, "log")] = 1.0
    source_length_masked: Annotated[int, Integer(say("masked words at the end"), 0, 3)] = 0

    def problems(self) -> Iterator[Problem]:
        """Yield the source's faults."""
        if self.relevant("src") and (refusal := refuse_tokens(SOURCE.label, self.src)):
            yield Problem("src", refusal)

    def relevant(self, field: str) -> bool:
        """Tell whether `field` matters: the hand case has its own words and widths."""
        return self.weights != "hand-case" or field not in ("src", "d_s", "d_h", "d_a")


LAB = Lab(
    name="additive-attention",
    title=say("Additive attention, step by step"),
    notice=say(
        "The weights depend on the states, not on their places; the context never leaves the range of the unmasked "
        "states."
    ),
    parameters=AdditiveAttentionParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("seq2seq",),
)
