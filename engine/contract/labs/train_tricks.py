"""Declares the lab `train-tricks`: warm-up, label smoothing, gradient accumulation and dropout, one at a time."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real
from engine.contract.message import say
from engine.contract.parameters import Params

FIELDS = {
    "warm-up": ("d", "warmup"),
    "smoothing": ("eps", "K"),
    "accumulation": ("sizes", "weighting"),
    "dropout": ("p", "mode"),
}


class TrainTricksParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `train-tricks`; each trick has two parameters of its own."""

    trick: Annotated[
        str,
        Choice(
            say("trick"),
            ("warm-up", "smoothing", "accumulation", "dropout"),
            (say("warm-up"), say("label smoothing"), say("gradient accumulation"), say("dropout")),
        ),
    ] = "warm-up"
    d: Annotated[int, Integer(say("width d"), 16, 1024)] = 512
    warmup: Annotated[int, Integer(say("warm-up steps"), 4, 8000)] = 4000
    eps: Annotated[float, Real(say("smoothing ε"), 0.0, 0.3)] = 0.1
    K: Annotated[int, Integer(say("classes K"), 2, 10)] = 5
    sizes: Annotated[
        str, Choice(say("sizes of the parts"), ("4,4,4", "6,4,2"), (say("4 + 4 + 4"), say("6 + 4 + 2")))
    ] = "6,4,2"
    weighting: Annotated[
        str,
        Choice(
            say("weighting"), ("by count", "by size"), (say("by the number of parts"), say("by the size of each part"))
        ),
    ] = "by count"
    p: Annotated[float, Real(say("dropout p"), 0.0, 0.9)] = 0.1
    mode: Annotated[str, Choice(say("mode"), ("train", "eval"), (say("training"), say("evaluation")))] = "train"

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen trick uses `field`."""
        return field == "trick" or field in FIELDS[self.trick]


LAB = Lab(
    name="train-tricks",
    title=say("Training tricks bench"),
    notice=say("Parts of equal size hide the error of accumulating by count."),
    parameters=TrainTricksParams,
    estimate=lambda params: Cost(seconds=0.05),
    lessons=("training",),
)
