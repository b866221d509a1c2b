"""Declares the lab `lstm-highway`: the direct path of the gradient through the cell, and the whole derivative."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params


class LstmHighwayParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `lstm-highway`; `w_scale` multiplies the recurrent weights W_hh only."""

    forget_bias: Annotated[float, Real(say("forget bias"), -1.0, 5.0)] = 1.0
    hidden: Annotated[int, Integer(say("hidden width H"), 8, 32)] = 32
    T: Annotated[int, Integer(say("steps T"), 5, 60)] = 50
    path: Annotated[
        str,
        Choice(
            say("path"),
            ("direct", "full", "both"),
            (say("the direct path ∏f"), say("the whole derivative"), say("both")),
        ),
    ] = "both"
    w_scale: Annotated[float, Real(say("factor on the recurrent weights"), 1.0, 20.0, "log")] = 1.0


LAB = Lab(
    name="lstm-highway",
    title=say("How wide is the gradient highway?"),
    notice=say(
        "The famous product is only the direct path: at distance 50 the whole derivative is tens to thousands of times "
        "larger; gated nets can explode too."
    ),
    parameters=LstmHighwayParams,
    estimate=lambda params: Cost(seconds=0.2),
    lessons=("lstm",),
)
