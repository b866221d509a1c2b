"""Declares the lab `seq2seq`: an encoder–decoder learns to translate or to reverse, with or without attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Integer, Text
from engine.contract.message import Message, say
from engine.contract.parameters import Params, Problem
from engine.contract.toy_translation import read_clause

EXAMPLE = "i took lamps in the station"
SENTENCE = Text(say("sentence"), zh=EXAMPLE, en=EXAMPLE)


class Seq2seqParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `seq2seq`; reversing has a width and a number of steps of its own, and a GRU encoder."""

    task: Annotated[str, Choice(say("task"), ("translate", "reverse"), (say("translate"), say("reverse digits")))] = (
        "translate"
    )
    attention: Annotated[bool, Boolean(say("attention"))] = True
    encoder: Annotated[
        str,
        Choice(
            say("encoder"),
            ("embedding", "bi-gru", "gru"),
            (say("embedding + position"), say("GRU in both directions"), say("GRU")),
        ),
    ] = "embedding"
    hidden: Annotated[int, Integer(say("hidden units"), 16, 48)] = 32
    steps: Annotated[int, Integer(say("steps"), 100, 500)] = 300
    sentence: Annotated[str, SENTENCE] = ""
    reverse_hidden: Annotated[int, Integer(say("hidden units for reversing"), 16, 48)] = 48
    reverse_steps: Annotated[int, Integer(say("steps for reversing"), 100, 500)] = 400

    def problems(self) -> Iterator[Problem]:
        """Yield where the sentence leaves the toy grammar."""
        if self.task == "translate" and isinstance(read := read_clause(SENTENCE.label, self.sentence), Message):
            yield Problem("sentence", read)

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen task uses `field`."""
        if field in ("encoder", "hidden", "steps", "sentence"):
            return self.task == "translate"
        return self.task == "reverse" or field not in ("reverse_hidden", "reverse_steps")


def estimate(params: Seq2seqParams) -> Cost:
    """Count milliseconds a step: the decoder, twice with attention, and a GRU encoder on top."""
    if params.task == "reverse":
        return Cost(seconds=0.3 + params.reverse_steps * (14e-3 if params.attention else 8e-3))
    per_step = (12e-3 if params.attention else 6e-3) + {"embedding": 0, "gru": 2e-3, "bi-gru": 4e-3}[params.encoder]
    return Cost(seconds=0.3 + params.steps * per_step)


LAB = Lab(
    name="seq2seq",
    title=say("Translate and align"),
    notice=say("Changes of word order are read off the map; without attention long inputs fail first."),
    parameters=Seq2seqParams,
    estimate=estimate,
    lessons=("seq2seq",),
    trains=True,
)
