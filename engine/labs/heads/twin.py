"""Weights need not explain an output: two different rows of weights over the same values with equal outputs."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from engine.contract.message import say
from engine.contract.report import Column, Heatmap, Report, Scalar, Table
from engine.labs.base import Context, array, counted, equal, largest, more_than, rows_sum_to_one

TOKENS, WIDTH = 6, 3


def twin_report(context: Context) -> Report:
    """Two different rows of weights over six tokens whose outputs are equal."""
    value = context.normal("twin values", TOKENS, WIDTH)
    weights = torch.softmax(context.normal("twin scores", TOKENS), dim=-1)
    twin = _twin(weights, value)
    both = torch.stack([weights, twin])  # (2, tokens)
    outputs = both @ value  # (2, d_v)
    variation = (weights - twin).abs().sum().item() / 2
    values: dict[str, Scalar] = {
        "total_variation": variation,
        "output_difference": largest(outputs[0] - outputs[1]),
    }
    names = ("p", "p′")
    panels = (
        Heatmap(
            "twins",
            say("Two rows of weights, total variation {variation:.2f}", variation=variation),
            array(both),
            names,
            counted("v", TOKENS),
            say("weights"),
            say("values"),
            0.0,
            1.0,
        ),
        Table(
            "outputs",
            say("Their outputs"),
            (Column(say("weights")), *(Column(say("dim {number}", number=i + 1), ".6f") for i in range(WIDTH))),
            tuple((name, *row) for name, row in zip(names, outputs.tolist(), strict=True)),
        ),
    )
    invariants = (
        equal(say("both rows of weights give the same output"), outputs[1], outputs[0], 1e-12),
        rows_sum_to_one(both),
        more_than(say("no weight is negative"), both.min().item(), -1e-12),
        more_than(say("the rows differ"), variation, 1e-3),
    )
    return Report(panels, values, invariants)


def _twin(weights: Tensor, value: Tensor) -> Tensor:
    """Return the row of weights (n,) with the same sum and output that lies farthest from `weights`.

    Moving p by z with zᵀ[V, 1] = 0 changes neither Σp nor pᵀV. The rows p + z without a negative weight form a convex
    polygon (the null space has two dimensions here); the farthest is a corner, where two weights have reached 0.
    """
    constraints = torch.cat([value, torch.ones(len(value), 1, dtype=value.dtype)], dim=1)  # (n, d_v + 1)
    null_space = torch.linalg.svd(constraints.T).Vh[constraints.shape[1] :].T  # (n, 2)
    farthest, distance = weights, 0.0
    for pair in combinations(range(len(weights)), 2):
        steps = torch.linalg.solve(null_space[list(pair)], -weights[list(pair)])  # (2,)
        corner = weights + null_space @ steps  # (n,)
        if corner.min() > -1e-12 and (corner - weights).abs().sum().item() > distance:
            farthest, distance = corner, (corner - weights).abs().sum().item()
    return farthest
