"""Declares the lab `lstm-step`: the gates of an LSTM at every step, free or held at their stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import refuse_tokens

TEXT = Text(say("text"), zh="我 喜欢 安静 的 早晨", en="I like the quiet morning")


class LstmStepParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `lstm-step`; `c0` is where every cell starts, h starts at 0."""

    text: Annotated[str, TEXT] = ""
    hidden: Annotated[int, Integer(say("hidden width H"), 1, 8)] = 2
    override: Annotated[
        str,
        Choice(
            say("gates held"),
            ("none", "conveyor", "overwrite", "mute"),
            (say("none"), say("conveyor: f = 1, i = 0"), say("overwrite: f = 0, i = 1"), say("mute: o = 0")),
        ),
    ] = "none"
    forget_bias: Annotated[float, Real(say("forget bias"), -3.0, 5.0)] = 1.0
    c0: Annotated[float, Real(say("start of the cells c_0"), -2.0, 2.0)] = 1.0

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults."""
        if refusal := refuse_tokens(TEXT.label, self.text):
            yield Problem("text", refusal)


LAB = Lab(
    name="lstm-step",
    title=say("LSTM cell dissected"),
    notice=say("The cell c may leave the range from −1 to 1; the hidden state h cannot."),
    parameters=LstmStepParams,
    estimate=lambda params: Cost(seconds=0.03),
    lessons=("lstm",),
)
