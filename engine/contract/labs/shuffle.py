"""Declares the lab `shuffle`: one attention layer on a sentence and on the same words in another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Numbers, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import MOST_TOKENS, refuse_tokens, tokenize

TEXT = Text(say("text"), zh="狗 咬 人 猫 追 狗", en="the dog bit the man twice")


class ShuffleParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `shuffle`; an empty permutation means one drawn by the seed that is not the identity."""

    text: Annotated[str, TEXT] = ""
    pe: Annotated[
        str, Choice(say("position encoding"), ("none", "sinusoid"), (say("no positions"), say("sinusoid")))
    ] = "none"
    mask: Annotated[str, Choice(say("mask"), ("none", "causal"), (say("no mask"), say("causal")))] = "none"
    permutation: Annotated[tuple[int, ...], Numbers(say("permutation"), "permutation", most_columns=MOST_TOKENS)] = ()

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults, or a permutation of another length than the text."""
        if refusal := refuse_tokens(TEXT.label, self.text):
            yield Problem("text", refusal)
            return
        count = len(tokenize(self.text))
        if self.permutation and len(self.permutation) != count:
            message = say(
                "The permutation has {length} numbers, but the text has {count} tokens; write 0 … {last} in any order.",
                length=len(self.permutation),
                count=count,
                last=count - 1,
            )
            yield Problem("permutation", message)


LAB = Lab(
    name="shuffle",
    title=say("Shuffle the words"),
    notice=say("A causal mask alone already carries order information."),
    parameters=ShuffleParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("self-attention",),
)
