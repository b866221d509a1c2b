"""Declares the lab `recall-race`: which recurrent layer still knows the first symbol after D distractors?"""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choices, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params

MODELS = ("rnn", "gru", "lstm", "lstm+bias1", "lstm+bias3")
MODEL_LABELS = (
    say("RNN"),
    say("GRU"),
    say("LSTM"),
    say("LSTM, forget bias {bias}", bias=1),
    say("LSTM, forget bias {bias}", bias=3),
)
MILLISECONDS = {"rnn": 0.10, "gru": 0.35, "lstm": 0.25, "lstm+bias1": 0.25, "lstm+bias3": 0.25}  # a step of time


class RecallRaceParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `recall-race`; all models learn from the same batches."""

    D: Annotated[int, Integer(say("distractors D"), 5, 80)] = 20
    models: Annotated[tuple[str, ...], Choices(say("models"), MODELS, MODEL_LABELS)] = MODELS
    hidden: Annotated[int, Integer(say("hidden units"), 16, 64)] = 32
    steps: Annotated[int, Integer(say("steps"), 50, 300)] = 300
    lr: Annotated[float, Real(say("learning rate"), 1e-3, 1e-2, "log")] = 5e-3


def estimate(params: RecallRaceParams) -> Cost:
    """Every model reads 1 + D tokens forwards and backwards in every step."""
    per_step = sum(MILLISECONDS[model] for model in params.models) * (1 + params.D) * (0.5 + params.hidden / 64)
    return Cost(seconds=0.2 + params.steps * per_step * 1e-3)


LAB = Lab(
    name="recall-race",
    title=say("Memory race"),
    notice=say("“LSTM beats RNN” is not automatic: the open gate (forget bias 3) does the work, and the seed matters."),
    parameters=RecallRaceParams,
    estimate=estimate,
    lessons=("gru",),
    trains=True,
)
