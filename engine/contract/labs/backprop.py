"""Declares the lab `backprop`: the gradient of a small net by hand, by autograd and by differences; XOR by descent."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params


class BackpropParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `backprop`; the trace and XOR have a learning rate each."""

    mode: Annotated[str, Choice(say("mode"), ("trace", "xor"), (say("one step by hand"), say("learn XOR")))] = "trace"
    x1: Annotated[float, Real(say("input x₁"), -3.0, 3.0)] = 1.0
    x2: Annotated[float, Real(say("input x₂"), -3.0, 3.0)] = 2.0
    target: Annotated[float, Real(say("target"), -3.0, 5.0)] = 3.0
    lr: Annotated[float, Real(say("learning rate"), 0.001, 0.2, "log")] = 0.01
    hidden: Annotated[int, Integer(say("hidden units"), 1, 8)] = 4
    lr_xor: Annotated[float, Real(say("learning rate for XOR"), 0.05, 1.0, "log")] = 0.5
    steps: Annotated[int, Integer(say("steps"), 100, 2000)] = 1000

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen mode uses `field`."""
        if field in ("x1", "x2", "target", "lr"):
            return self.mode == "trace"
        return field == "mode" or self.mode == "xor"


def estimate(params: BackpropParams) -> Cost:
    """A step of XOR is two small nets forwards and backwards."""
    return Cost(seconds=0.02 if params.mode == "trace" else 0.05 + params.steps * 5e-4)


LAB = Lab(
    name="backprop",
    title=say("Backpropagation by hand"),
    notice=say("A dead ReLU unit gets no gradient; the direction can be right and the step too long."),
    parameters=BackpropParams,
    estimate=estimate,
    lessons=("feedforward",),
)
