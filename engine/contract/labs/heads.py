"""Declares the lab `heads`: what the heads of a multi-head attention look at, and what more heads cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem, divisors_up_to
from engine.contract.tokens import refuse_tokens

MOST_HEADS = 8
SENTENCE = Text(say("sentence"), zh="猫 坐 在 垫子 上", en="The cat sat on the mat")


class HeadsParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `heads`. The rank and twin panels draw their own numbers and take no sentence."""

    sentence: Annotated[str, SENTENCE] = ""
    embed_size: Annotated[int, Choice(say("embedding width"), tuple(range(64, 513, 64)))] = 256
    heads: Annotated[int, Choice(say("number of heads"), tuple(range(1, MOST_HEADS + 1)))] = 4
    position: Annotated[bool, Boolean(say("position encoding"))] = False
    projection: Annotated[
        str,
        Choice(
            say("projection"),
            ("full", "shared-slice"),
            (say("each head reads the whole input"), say("each head reads its slice")),
        ),
    ] = "full"
    weights: Annotated[str, Choice(say("weights"), ("random",), (say("random, untrained"),))] = "random"
    panel: Annotated[
        str,
        Choice(
            say("panel"),
            ("maps", "scope", "rank", "twin"),
            (say("attention maps"), say("what each head reads"), say("rank of the scores"), say("twin weights")),
        ),
    ] = "maps"

    def problems(self) -> Iterator[Problem]:
        """Yield the sentence's faults, or heads that do not divide the width."""
        if not self.relevant("sentence"):
            return
        if refusal := refuse_tokens(SENTENCE.label, self.sentence):
            yield Problem("sentence", refusal)
        valid = divisors_up_to(self.embed_size, MOST_HEADS)
        if self.heads not in valid:
            message = say(
                "{heads} heads cannot share an embedding of width {width} equally; choose one of: {valid}.",
                heads=self.heads,
                width=self.embed_size,
                valid=", ".join(map(str, valid)),
            )
            yield Problem("heads", message)

    def options(self, field: str) -> tuple[int, ...] | None:
        """Offer only numbers of heads that divide the width."""
        return divisors_up_to(self.embed_size, MOST_HEADS) if field == "heads" else None

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen panel uses `field`."""
        return field == "panel" or self.panel in ("maps", "scope")


LAB = Lab(
    name="heads",
    title=say("Multi-head viewer"),
    notice=say(
        "Untrained maps are near uniform at PyTorch's start, and structureless at any; more heads are thinner heads."
    ),
    parameters=HeadsParams,
    estimate=lambda params: Cost(seconds=0.05, bytes=4 * 8 * params.embed_size**2),
    lessons=("multi-head",),
)
