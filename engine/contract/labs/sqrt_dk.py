"""Declares the lab `sqrt-dk`: what dividing by √d_k does to the softmax and to its gradient."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Choices, Integer
from engine.contract.message import say
from engine.contract.parameters import Params

WIDTHS = (1, 4, 16, 64, 256, 1024)
SCALES = ("none", "sqrt", "d_k")
SCALE_LABELS = (say("no scaling"), say("divided by √d_k"), say("divided by d_k"))


class SqrtDkParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `sqrt-dk`; the table and curves always show every d_k, the values are those of `d_k`."""

    d_k: Annotated[int, Choice(say("key width d_k"), WIDTHS)] = 64
    keys: Annotated[int, Integer(say("number of keys"), 2, 64)] = 16
    trials: Annotated[int, Integer(say("number of trials"), 100, 5000)] = 2000
    scale: Annotated[tuple[str, ...], Choices(say("scaling"), SCALES, SCALE_LABELS)] = ("none", "sqrt")


def estimate(params: SqrtDkParams) -> Cost:
    """Drawing the keys is what takes time: 1024 numbers per key and trial."""
    return Cost(seconds=0.05 + params.trials * params.keys * 1024 * 12e-9)


LAB = Lab(
    name="sqrt-dk",
    title=say("Why divide by √d_k"),
    notice=say(
        "Without scaling the gradient of the softmax vanishes; dividing by d_k instead makes the rows nearly uniform."
    ),
    parameters=SqrtDkParams,
    estimate=estimate,
    lessons=("self-attention",),
)
