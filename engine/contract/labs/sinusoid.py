"""Declares the lab `sinusoid`: the sinusoidal position encoding, its wavelengths, and the rotation that shifts it."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params

STARTS = ("1", "d^-1/2")
START_LABELS = (say("N(0, 1)"), say("N(0, 1/d)"))


class SinusoidParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `sinusoid`. Embeddings are multiplied by √d, whatever standard deviation they start with."""

    n: Annotated[int, Integer(say("positions n"), 2, 128)] = 50
    d: Annotated[int, Integer(say("width d"), 1, 128)] = 128
    shift: Annotated[int, Integer(say("shift k"), -20, 50)] = 7
    base: Annotated[float, Real(say("base"), 100.0, 100_000.0, "log")] = 10_000.0
    emb_std: Annotated[str, Choice(say("start of the embeddings"), STARTS, START_LABELS)] = "1"


LAB = Lab(
    name="sinusoid",
    title=say("Sinusoidal encoding"),
    notice=say(
        "A pair is (sin, cos), so R_k looks as if it turned backwards; rotary encoding turns (x₁, x₂) itself. "
        "PE[0]·PE[k] does not fall steadily with k."
    ),
    parameters=SinusoidParams,
    estimate=lambda params: Cost(seconds=0.03),
    lessons=("position",),
)
