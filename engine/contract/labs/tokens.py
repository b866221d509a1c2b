"""Declares the lab `tokens`: from a sentence to ids, one-hots and a matrix, and what a bag of words forgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import refuse_tokens

TEXT = Text(say("text"), zh="狗 咬 人", en="the dog bit the man")


class TokensParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `tokens`."""

    text: Annotated[str, TEXT] = ""
    order: Annotated[
        str,
        Choice(
            say("order of the tokens"),
            ("original", "reversed", "shuffled"),
            (say("as written"), say("reversed"), say("shuffled")),
        ),
    ] = "original"
    width: Annotated[int, Integer(say("embedding width d"), 2, 8)] = 4

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults."""
        if refusal := refuse_tokens(TEXT.label, self.text):
            yield Problem("text", refusal)


LAB = Lab(
    name="tokens",
    title=say("From sentence to tensor"),
    notice=say("The bag of words forgets who bit whom; the sequence does not."),
    parameters=TokensParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("sequences",),
)
