"""Declares the lab `activations`: four activation functions, their derivatives, and the two ways to write GELU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Real
from engine.contract.message import say
from engine.contract.parameters import Params, Problem

FUNCTIONS = ("sigmoid", "tanh", "relu", "gelu-exact", "gelu-tanh")
GELUS = ("gelu-exact", "gelu-tanh")
VIEWS = ("value", "derivative", "gelu-error")


class ActivationsParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `activations`; the difference of the two GELUs can be shown for a GELU only."""

    fn: Annotated[
        str,
        Choice(
            say("function"),
            FUNCTIONS,
            (say("sigmoid"), say("tanh"), say("ReLU"), say("GELU, exact"), say("GELU, tanh form")),
        ),
    ] = "gelu-exact"
    xmin: Annotated[float, Real(say("left end"), -20.0, 20.0)] = -6.0
    xmax: Annotated[float, Real(say("right end"), -20.0, 20.0)] = 6.0
    show: Annotated[
        str, Choice(say("what to draw"), VIEWS, (say("value"), say("derivative"), say("difference of the two GELUs")))
    ] = "value"

    def problems(self) -> Iterator[Problem]:
        """Yield ends in the wrong order, or a GELU's view of another function."""
        if self.xmin >= self.xmax:
            message = say(
                "The left end {left:g} must lie below the right end {right:g}.", left=self.xmin, right=self.xmax
            )
            yield Problem("xmax", message)
        if self.show == "gelu-error" and self.fn not in GELUS:
            message = say(
                "Only a GELU has two forms to compare; choose one of {gelus}, or show the value or the derivative.",
                gelus=", ".join(GELUS),
            )
            yield Problem("show", message)

    def options(self, field: str) -> tuple[str, ...] | None:
        """Offer the difference of the GELUs for a GELU only."""
        return VIEWS[:2] if field == "show" and self.fn not in GELUS else None


LAB = Lab(
    name="activations",
    title=say("Activation functions"),
    notice=say("Far out tanh is flat; ReLU passes exactly no gradient on the left; GELU is not monotone."),
    parameters=ActivationsParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("feedforward",),
)
