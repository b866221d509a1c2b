"""Declares the lab `jacobian`: how a gradient vanishes or explodes on its way through time."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params

SEEDS = 5  # runs of consecutive seeds that the table of medians is made of


class JacobianParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `jacobian`; the non-normal matrix is [[rho, offdiag], [0, rho]] and has width 2."""

    matrix: Annotated[
        str,
        Choice(
            say("matrix W"),
            ("gaussian", "orthogonal", "non-normal"),
            (say("gaussian"), say("orthogonal"), say("non-normal, 2 × 2")),
        ),
    ] = "gaussian"
    rho: Annotated[float, Real(say("spectral radius ρ"), 0.3, 2.0)] = 0.9
    hidden: Annotated[int, Integer(say("hidden width H"), 2, 64)] = 32
    T: Annotated[int, Integer(say("steps T"), 5, 100)] = 50
    input_scale: Annotated[float, Real(say("scale of the inputs"), 0.0, 2.0)] = 0.5
    act: Annotated[str, Choice(say("activation"), ("tanh", "linear"), (say("tanh"), say("none (linear)")))] = "tanh"
    offdiag: Annotated[float, Real(say("entry off the diagonal"), 0.0, 10.0)] = 5.0
    compare: Annotated[bool, Boolean(say("compare with self-attention"))] = False

    def relevant(self, field: str) -> bool:
        """The 2 × 2 matrix has its own width, and it alone has an entry off the diagonal."""
        if field in ("hidden", "offdiag"):
            return (self.matrix == "non-normal") is (field == "offdiag")
        return True


def estimate(params: JacobianParams) -> Cost:
    """Twenty recurrent nets are read for the medians; the products of matrices grow with H³."""
    steps = 4 * SEEDS * params.T
    return Cost(seconds=0.05 + steps * (60e-6 + 4e-10 * params.hidden**3), bytes=4 * 8 * params.T * params.hidden**2)


LAB = Lab(
    name="jacobian",
    title=say("Gradient through time"),
    notice=say(
        "With ρ = 1.5 and inputs of scale 1 the gradient vanishes all the same; with ρ < 1 it may grow first; "
        "attention has no axis of distance."
    ),
    parameters=JacobianParams,
    estimate=estimate,
    lessons=("gradients",),
)
