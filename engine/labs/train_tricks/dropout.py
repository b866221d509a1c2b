"""Inverted dropout on ones: the mean stays, the variance comes, and evaluation is the identity.

x ⊙ m / (1 − p)        m ~ Bernoulli(1 − p)        mean x, variance x² p/(1 − p)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.message import say
from engine.contract.report import Column, Heatmap, Invariant, Report, Table
from engine.labs.base import Context, array, at_most, close

NUMBERS = 20_000
SHOWN = (6, 24)  # rows and columns of the picture


def run(params: TrainTricksParams, context: Context) -> Report:
    """Report mean and variance of two passes over the same ones."""
    layer = nn.Dropout(params.p)
    layer.train(params.mode == "train")
    torch.manual_seed(context.generator("dropout").initial_seed())  # nn.Dropout draws from the global generator
    ones = torch.ones(NUMBERS, dtype=torch.float64)
    first, second = layer(ones), layer(ones)
    changed = (first != second).double().mean().item()
    values = {
        "mean": first.mean().item(),
        "variance": first.var(correction=0).item(),
        "expected_variance": params.p / (1 - params.p) if params.mode == "train" else 0.0,
        "dropped": (first == 0).double().mean().item(),
        "kept_value": first.max().item(),
        "changed": changed,
    }
    panels = (_table(values, second), _picture(first, params))
    return Report(panels, {**values}, tuple(_invariants(params, first, second, changed)))


def _table(values: dict[str, float], second: Tensor) -> Table:
    rows = (
        (say("mean"), values["mean"], second.mean().item()),
        (say("variance"), values["variance"], second.var(correction=0).item()),
        (say("share of zeros"), values["dropped"], (second == 0).double().mean().item()),
        (say("value of those kept"), values["kept_value"], second.max().item()),
    )
    columns = (Column(say("quantity")), Column(say("first pass"), ".4f"), Column(say("second pass"), ".4f"))
    title = say(
        "{count:,} ones after dropout; {changed:.1%} differ between the passes",
        count=NUMBERS,
        changed=values["changed"],
    )
    return Table("passes", title, columns, rows)


def _picture(first: Tensor, params: TrainTricksParams) -> Heatmap:
    height, width = SHOWN
    return Heatmap(
        "mask",
        say("The first numbers of the first pass"),
        array(first[: height * width].reshape(height, width)),
        tuple(str(row + 1) for row in range(height)),
        tuple(str(column + 1) for column in range(width)),
        say("row"),
        say("number"),
        0.0,
        1 / (1 - params.p),
    )


def _invariants(params: TrainTricksParams, first: Tensor, second: Tensor, changed: float) -> Iterator[Invariant]:
    keeps = say("dropout keeps the mean, within five standard errors")
    if params.mode == "eval":
        yield close(say("evaluation changes nothing"), torch.stack((first, second)) - 1, 0.0)
    elif params.p == 0:
        yield close(keeps, first.mean().item() - 1, 0.0)
    else:
        bound = 5 * math.sqrt(params.p / ((1 - params.p) * NUMBERS))
        yield at_most(keeps, abs(first.mean().item() - 1), bound)
        yield Invariant(
            say("two training passes differ"), changed > 0, say("{changed:.1%} of the numbers", changed=changed)
        )
