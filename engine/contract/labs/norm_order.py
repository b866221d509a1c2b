"""Declares the lab `norm-order`: residual and norm in four arrangements, at the start and in training."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Choices, Integer
from engine.contract.message import say
from engine.contract.parameters import Params

ORDERS = ("post", "pre", "no-residual", "no-norm")
ORDER_LABELS = (say("post-norm"), say("pre-norm"), say("no residual"), say("no norm"))
RATES = {"1e-3": 1e-3, "6e-3": 6e-3}
TRAINED_LAYERS = 8


class NormOrderParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `norm-order`. Layers and width are those of the start; the trained stack has 8 layers of
    width 32."""

    layers: Annotated[int, Integer(say("layers"), 1, 24)] = 12
    order: Annotated[tuple[str, ...], Choices(say("order"), ORDERS, ORDER_LABELS)] = ORDERS
    d: Annotated[int, Choice(say("width d"), (32, 64))] = 64
    train: Annotated[bool, Boolean(say("train"))] = False
    lr: Annotated[str, Choice(say("learning rate"), tuple(RATES), (say("0.001"), say("0.006")))] = "6e-3"
    warmup: Annotated[int, Choice(say("warm-up steps"), (0, 50))] = 0
    steps: Annotated[int, Integer(say("steps"), 20, 150)] = 150

    def relevant(self, field: str) -> bool:
        """The rate, its warm-up and the number of steps belong to the training."""
        return self.train or field not in ("lr", "warmup", "steps")


def estimate(params: NormOrderParams) -> Cost:
    """A training step of the 8 layers takes 26 ms per order."""
    start = len(params.order) * params.layers * (params.d / 64) * 8e-3
    training = len(params.order) * params.steps * 26e-3 if params.train else 0.0
    return Cost(seconds=0.05 + start + training)


LAB = Lab(
    name="norm-order",
    title=say("Pre-norm or post-norm"),
    notice=say(
        "Residual without norm explodes from a Xavier start; without residual the gradients look healthy, yet it "
        "hardly learns; at 0.006 post-norm does not train at all without warm-up, at 0.001 warm-up does not help."
    ),
    parameters=NormOrderParams,
    estimate=estimate,
    lessons=("encoder",),
)
