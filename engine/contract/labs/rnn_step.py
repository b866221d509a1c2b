"""Declares the lab `rnn-step`: a recurrent net reads a sentence step by step, and how much of it it remembers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import refuse_tokens, tokenize

TEXT = Text(say("text"), zh="我 爱 AI", en="I love AI")
WORKED_TOKENS, WORKED_WIDTH = 3, 2


class RnnStepParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `rnn-step`; the worked example is for three tokens, H = 2 and input width 2 alone."""

    text: Annotated[str, TEXT] = ""
    hidden: Annotated[int, Integer(say("hidden width H"), 2, 16)] = 2
    init: Annotated[
        str,
        Choice(
            say("first weights"),
            ("worked", "tiny", "scaled", "orthogonal"),
            (say("worked example"), say("0.01 · randn"), say("randn / √H"), say("orthogonal")),
        ),
    ] = "worked"
    input_size: Annotated[int, Integer(say("input width"), 2, 8)] = 2

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults, or what does not fit the worked example."""
        if refusal := refuse_tokens(TEXT.label, self.text):
            yield Problem("text", refusal)
            return
        if self.init != "worked":
            return
        if (count := len(tokenize(self.text))) != WORKED_TOKENS:
            message = say(
                "The worked example reads {wanted} tokens, but the text has {count}; choose other first weights.",
                wanted=WORKED_TOKENS,
                count=count,
            )
            yield Problem("text", message)
        for field, label, width in (
            ("hidden", say("hidden width H"), self.hidden),
            ("input_size", say("input width"), self.input_size),
        ):
            if width != WORKED_WIDTH:
                message = say(
                    "The worked example has {label} {wanted}, not {width}; choose other first weights.",
                    label=label,
                    wanted=WORKED_WIDTH,
                    width=width,
                )
                yield Problem(field, message)


LAB = Lab(
    name="rnn-step",
    title=say("RNN stepper"),
    notice=say("The popular tiny start gives an RNN without memory."),
    parameters=RnnStepParams,
    estimate=lambda params: Cost(seconds=0.03),
    lessons=("rnn",),
)
