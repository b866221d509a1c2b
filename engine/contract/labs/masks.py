"""Declares the lab `masks`: which keys a query may see, what a blocked row becomes, and what leaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer
from engine.contract.message import say
from engine.contract.parameters import Params, Problem

FILLS = ("-1e9", "-inf", "finfo.min")
FILL_LABELS = (say("−1e9"), say("−∞"), say("the lowest number"))


class MasksParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `masks`. Padding is that of the second sentence of a batch of n, whose sentences have
    n, n − 1, … and 1 real tokens: the first key is always open."""

    n: Annotated[int, Integer(say("tokens n"), 2, 8)] = 4
    kind: Annotated[
        str,
        Choice(
            say("mask"),
            ("none", "causal", "padding", "both", "blocked-row"),
            (say("no mask"), say("causal"), say("padding"), say("causal and padding"), say("last row all blocked")),
        ),
    ] = "causal"
    k: Annotated[int, Choice(say("diagonal offset k"), (0, 1))] = 1
    fill: Annotated[str, Choice(say("blocked scores become"), FILLS, FILL_LABELS)] = "-inf"
    dtype: Annotated[
        str,
        Choice(
            say("number format"), ("float32", "float64", "float16"), (say("float32"), say("float64"), say("float16"))
        ),
    ] = "float32"
    shape: Annotated[
        str,
        Choice(say("shape of the padding mask"), ("right", "naive"), (say("(B, 1, 1, T)"), say("(B, T), naive"))),
    ] = "right"

    def problems(self) -> Iterator[Problem]:
        """Yield that −1e9 does not fit float16."""
        if self.dtype == "float16" and self.fill == "-1e9":
            message = say("−1e9 does not fit float16, whose lowest number is −65504; choose −∞ or the lowest number.")
            yield Problem("fill", message)

    def relevant(self, field: str) -> bool:
        """The offset belongs to the causal mask, the shape to padding."""
        if field == "k":
            return self.kind in ("causal", "both")
        return field != "shape" or self.kind in ("padding", "both")


LAB = Lab(
    name="masks",
    title=say("Mask lab"),
    notice=say(
        "Three conventions, two of them opposite: True = may attend (this course, SDPA), True = blocked "
        "(nn.MultiheadAttention, nn.Transformer…), and float masks that are added."
    ),
    parameters=MasksParams,
    estimate=lambda params: Cost(seconds=0.05),
    lessons=("decoder",),
)
