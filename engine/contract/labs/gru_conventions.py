"""Declares the lab `gru-conventions`: the two ways to write a GRU, with the same numbers, and what its cells cost."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params


class GruConventionsParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `gru-conventions`; `input` and `H` are the widths whose parameters are counted."""

    variant: Annotated[
        str,
        Choice(
            say("place of the reset gate"),
            ("paper", "torch"),
            (say("before the product (paper)"), say("after the product (torch)")),
        ),
    ] = "torch"
    z_meaning: Annotated[
        str,
        Choice(
            say("meaning of z"),
            ("keep", "replace"),
            (say("z keeps the old state"), say("z replaces it")),
        ),
    ] = "keep"
    r_bias: Annotated[float, Real(say("bias of the reset gate"), -5.0, 60.0)] = 0.0
    hidden: Annotated[int, Integer(say("hidden width H"), 1, 8)] = 4
    input: Annotated[int, Integer(say("input width to count for"), 1, 128)] = 32
    H: Annotated[int, Integer(say("hidden width to count for"), 1, 256)] = 64


LAB = Lab(
    name="gru-conventions",
    title=say("Two ways to write a GRU"),
    notice=say("Flipping z only renames it; moving the reset gate makes another function."),
    parameters=GruConventionsParams,
    estimate=lambda params: Cost(seconds=0.03),
    lessons=("gru",),
)
