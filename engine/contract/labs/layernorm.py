"""Declares the lab `layernorm`: one row of features normalized, where ε stands, and what changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Numbers, Real
from engine.contract.message import say
from engine.contract.parameters import Params, Problem

ROW = Numbers(say("row x"), "vector", most_columns=16)
VARIANTS = ("sqrt(var+eps)", "std+eps", "unbiased-std")
VARIANT_LABELS = (say("√(s² + ε), as in PyTorch"), say("s + ε"), say("unbiased s + ε"))


class LayernormParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `layernorm`. The row is multiplied by `scale`, then `shift` is added, then it is normalized;
    gain γ and bias β are the same for all features."""

    row: Annotated[str, Choice(say("row"), ("given", "random"), (say("given"), say("random")))] = "given"
    x: Annotated[tuple[float, ...], ROW] = (1.0, 2.0, 3.0, 4.0)
    d: Annotated[int, Integer(say("width d"), 4, 512)] = 16
    scale: Annotated[float, Real(say("scale a"), 1e-6, 1000.0, "log")] = 1.0
    shift: Annotated[float, Real(say("shift b"), -100.0, 100.0)] = 0.0
    variant: Annotated[str, Choice(say("variant"), VARIANTS, VARIANT_LABELS)] = VARIANTS[0]
    eps: Annotated[float, Real(say("ε"), 1e-8, 1e-2, "log")] = 1e-5
    gamma: Annotated[float, Real(say("gain γ"), -3.0, 3.0)] = 1.0
    beta: Annotated[float, Real(say("bias β"), -3.0, 3.0)] = 0.0

    def problems(self) -> Iterator[Problem]:
        """Yield that a given row is too short."""
        if self.row == "given" and len(self.x) < 2:
            message = say("{label} needs at least two numbers; it has {count}.", label=ROW.label, count=len(self.x))
            yield Problem("x", message)

    def relevant(self, field: str) -> bool:
        """A given row has its own width."""
        if field in ("x", "d"):
            return (self.row == "given") is (field == "x")
        return True


LAB = Lab(
    name="layernorm",
    title=say("LayerNorm microscope"),
    notice=say("ε is not a detail: it decides what happens to nearly constant rows."),
    parameters=LayernormParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("encoder",),
)
