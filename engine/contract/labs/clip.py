"""Declares the lab `clip`: a recurrent net whose gradient explodes, with and without clipping."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params


class ClipParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `clip`; the run without clipping is always there for comparison."""

    scale: Annotated[float, Real(say("scale of the identity start"), 0.3, 1.6)] = 1.3
    clip: Annotated[float, Real(say("largest gradient norm"), 0.1, 10.0, "log")] = 1.0
    lr: Annotated[float, Real(say("learning rate"), 0.01, 0.1, "log")] = 0.05
    D: Annotated[int, Integer(say("distractors D"), 5, 30)] = 20
    steps: Annotated[int, Integer(say("steps"), 50, 300)] = 300


LAB = Lab(
    name="clip",
    title=say("Gradient clipping"),
    notice=say("Clipping repairs explosion, not vanishing: from a scale of .5 the loss stays at ln 4."),
    parameters=ClipParams,
    estimate=lambda params: Cost(seconds=0.1 + params.steps * (1.5 + 0.3 * params.D) * 1e-3),
    lessons=("gradients",),
    trains=True,
)
