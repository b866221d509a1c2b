"""XOR by gradient descent: a hidden layer bends the plane, without one the loss cannot fall below ln 2.

p = σ(w₂ · tanh(W₁ x + b₁) + b₂)          logistic loss over the four points, all of them in every step
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.contract.labs.backprop import BackpropParams
from engine.contract.message import say
from engine.contract.report import Column, Curves, Event, Heatmap, Invariant, Report, Scalar, Table
from engine.labs.base import Context, array, at_most, not_checked
from engine.layers.start import linear
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss
from engine.training.schedules import constant
from engine.training.sgd import SGD
from engine.training.trainer import Trainer

POINTS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TARGETS = torch.tensor([0.0, 1.0, 1.0, 0.0])
GRID = 21  # points a side of the picture of the plane
ONE_UNIT = say("one hidden unit cannot solve XOR")

Plane = tuple[Tensor, Tensor]


def run(params: BackpropParams, context: Context) -> Iterator[Event]:
    """Yield the loss curve on the way, then the truth table and the plane."""
    generator = context.generator("weights")
    net = nn.Sequential(
        linear(2, params.hidden, generator=generator), nn.Tanh(), linear(params.hidden, 1, generator=generator)
    )
    flat = nn.Sequential(linear(2, 1, generator=context.generator("weights without a hidden layer")))
    trainers = [_trainer(model, params.lr_xor) for model in (net, flat)]

    def curves() -> Curves:
        names = (say("with a hidden layer"), say("without a hidden layer"))
        lines = [(name, trainer.losses) for name, trainer in zip(names, trainers, strict=True)]
        return loss_curves(lines, params.steps, levels=[(say("guessing, ln 2"), math.log(2))])

    yield from train(
        trainers, lambda number: [(POINTS, TARGETS)], params.steps, check=context.check, panels=lambda: (curves(),)
    )
    with torch.no_grad():
        probabilities = net(POINTS).squeeze(-1).sigmoid()  # (4,)
        losses = [
            F.binary_cross_entropy_with_logits(model(POINTS).squeeze(-1), TARGETS).item() for model in (net, flat)
        ]
    right = (probabilities > 0.5) == (TARGETS > 0.5)  # (4,)
    values: dict[str, Scalar] = {
        "solved": bool(right.all()),
        "right": int(right.sum()),
        "loss": losses[0],
        "loss_no_hidden": losses[1],
        "chance_loss": math.log(2),
        "first_loss": trainers[0].losses[0],
    }
    yield Report(
        (curves(), _truth_table(probabilities, right), _plane(net)),
        values,
        tuple(_invariants(params, int(right.sum()), losses[1])),
    )


def _trainer(model: nn.Module, rate: float) -> Trainer[Plane]:
    def loss(batch: Plane) -> Loss:
        points, targets = batch
        logits = model(points).squeeze(-1)  # (4,)
        return Loss(F.binary_cross_entropy_with_logits(logits, targets, reduction="sum"), len(points))

    return Trainer(model, loss, SGD(model.parameters()), constant(rate))


def _truth_table(probabilities: Tensor, right: Tensor) -> Table:
    columns = (
        Column(say("x₁"), ".0f"),
        Column(say("x₂"), ".0f"),
        Column(say("target"), ".0f"),
        Column(say("probability"), ".3f"),
    )
    rows = [
        (*point, target, p, say("right") if ok else say("wrong"))
        for point, target, p, ok in zip(
            POINTS.tolist(), TARGETS.tolist(), probabilities.tolist(), right.tolist(), strict=True
        )
    ]
    return Table("truth", say("Truth table"), (*columns, Column(say("verdict"))), tuple(rows))


@torch.no_grad()
def _plane(net: nn.Module) -> Heatmap:
    """p over the square from −½ to 1½, x₂ upwards."""
    ticks = torch.linspace(-0.5, 1.5, GRID)
    x2, x1 = torch.meshgrid(ticks.flip(0), ticks, indexing="ij")  # each (GRID, GRID)
    probabilities = net(torch.stack((x1, x2), dim=-1)).squeeze(-1).sigmoid()  # (GRID, GRID)
    labels = [f"{tick:.1f}" for tick in ticks.tolist()]
    return Heatmap(
        "plane",
        say("p over the plane"),
        array(probabilities),
        tuple(reversed(labels)),
        tuple(labels),
        say("x₂"),
        say("x₁"),
        0.0,
        1.0,
    )


def _invariants(params: BackpropParams, right: int, loss_no_hidden: float) -> Iterator[Invariant]:
    yield at_most(say("without a hidden layer the loss is at least ln 2"), math.log(2), loss_no_hidden + 1e-6)
    if params.hidden > 1:
        yield not_checked(ONE_UNIT, say("there are {count} hidden units", count=params.hidden))
    else:
        yield Invariant(ONE_UNIT, right < 4, say("{right} of {all} points are right", right=right, all=4))
