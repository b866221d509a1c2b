"""Declares the lab `pe-race`: which position encoding still works on texts longer than those trained on?"""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choices, Integer
from engine.contract.message import say
from engine.contract.parameters import Params

SCHEMES = ("none", "sinusoid", "learned", "rotary", "alibi")
SCHEME_LABELS = (say("no positions"), say("sinusoid"), say("learned table"), say("rotary"), say("ALiBi"))


class PeRaceParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `pe-race`; all schemes share weights, batches and everything else."""

    schemes: Annotated[tuple[str, ...], Choices(say("position encodings"), SCHEMES, SCHEME_LABELS)] = SCHEMES
    train_len: Annotated[int, Integer(say("length trained on"), 8, 24)] = 16
    steps: Annotated[int, Integer(say("steps"), 100, 600)] = 400
    causal: Annotated[bool, Boolean(say("causal mask"))] = False


def estimate(params: PeRaceParams) -> Cost:
    """Every scheme is a network of its own; rotary positions cost a little more."""
    per_step = len(params.schemes) + 0.3 * ("rotary" in params.schemes)
    return Cost(seconds=0.3 + params.steps * per_step * (1 + params.train_len * 0.3) * 1e-3)


LAB = Lab(
    name="pe-race",
    title=say("Position race"),
    notice=say(
        "Symmetric ALiBi knows distance, not direction: one half; learned tables are untrained beyond their length."
    ),
    parameters=PeRaceParams,
    estimate=estimate,
    lessons=("position",),
    trains=True,
)
