"""Computes the lab `sqrt-dk`: the variance of q·k and what the softmax makes of it, for six widths d_k.

Every trial draws one query and some keys with independent N(0, 1) entries of width 1024; a smaller d_k takes their
first d_k entries, so that all rows of the table come from the same draws. The gradient is the Jacobian of the softmax,
J = diag(p) − p pᵀ; its size is the Frobenius norm.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.sqrt_dk import SCALE_LABELS, SCALES, WIDTHS, SqrtDkParams
from engine.contract.message import say
from engine.contract.report import (
    Column,
    Curves,
    Detail,
    Event,
    Heatmap,
    Invariant,
    Panel,
    Progress,
    Report,
    Scalar,
    Series,
    Table,
)
from engine.labs.base import Context, array, at_most, close, counted, entropy

FORMULAS = {"none": "q·k", "sqrt": "q·k/√d_k", "d_k": "q·k/d_k"}
SUFFIXES = {"none": "none", "sqrt": "sqrt", "d_k": "dk"}
CHUNK = 500_000  # numbers drawn between two looks at `should_stop`, about 5 ms


@dataclass(frozen=True)
class Measured:
    """Statistics over the trials; one entry per (width, scale), in the order of WIDTHS and SCALES."""

    variance: Tensor  # (6,)
    entropy: Tensor  # (6, 3) mean over trials
    highest_entropy: float
    max_weight: Tensor  # (6, 3) mean over trials
    gradient_mean: Tensor  # (6, 3)
    gradient_median: Tensor  # (6, 3)
    largest_jacobian_row_sum: float
    example: Tensor  # (6, keys): q·k of the first trial


def run(params: SqrtDkParams, context: Context) -> Iterator[Event]:
    """Yield progress while drawing, then the table, the curves and one example row."""
    measured = yield from _measure(params, context)
    chosen = tuple(SCALES.index(scale) for scale in params.scale)
    panels: tuple[Panel, ...] = (
        _example(measured, params, chosen),
        _table(measured, chosen),
        *_curves(measured, chosen),
    )
    yield Report(panels, _values(measured, params, chosen), tuple(_invariants(measured, params)))


def _measure(params: SqrtDkParams, context: Context) -> Generator[Event, None, Measured]:
    """Draw in chunks and keep only what is averaged; yield the progress, return the statistics."""
    queries, keys = context.generator("queries"), context.generator("keys")
    size = max(1, CHUNK // (params.keys * WIDTHS[-1]))
    chunks = -(-params.trials // size)
    parts: list[tuple[Tensor, ...]] = []
    for number in range(chunks):
        context.check()
        trials = min(size, params.trials - number * size)
        products = _products(queries, keys, trials, params.keys)  # (6, trials, keys)
        parts.append((products, *_softmax_statistics(products)))
        if number % 8 == 0:
            yield Progress(number / chunks, say("trial {done:,} of {all:,}", done=number * size, all=params.trials))
    products, entropies, largest_weights, gradients, row_sums = (
        torch.cat(pieces, dim=dim) for pieces, dim in zip(zip(*parts, strict=True), (1, 2, 2, 2, 2), strict=True)
    )
    return Measured(
        variance=products.var(dim=(1, 2)),
        entropy=entropies.mean(-1),
        highest_entropy=entropies.max().item(),
        max_weight=largest_weights.mean(-1),
        gradient_mean=gradients.mean(-1),
        gradient_median=gradients.quantile(0.5, dim=-1),
        largest_jacobian_row_sum=row_sums.max().item(),
        example=products[:, 0],
    )


def _products(queries: torch.Generator, keys: torch.Generator, trials: int, n_keys: int) -> Tensor:
    """Draw queries and keys and return q·k for every width, (6, trials, keys), float64.

    The entries are drawn in float32, which is six times quicker; all arithmetic on them is float64.
    """
    query = torch.randn(trials, 1, WIDTHS[-1], generator=queries).double()  # (trials, 1, 1024)
    key = torch.randn(trials, n_keys, WIDTHS[-1], generator=keys).double()  # (trials, keys, 1024)
    pieces = zip((0, *WIDTHS[:-1]), WIDTHS, strict=True)
    sums = [(key[..., start:end] @ query[..., start:end].mT)[..., 0] for start, end in pieces]  # each (trials, keys)
    return torch.stack(sums).cumsum(0)


def _softmax_statistics(products: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return entropy, largest weight, ‖J‖ and the largest |row sum of J| of each row, each (6, 3, trials)."""
    divisors = torch.tensor([[1.0, math.sqrt(width), width] for width in WIDTHS], dtype=torch.float64)  # (6, 3)
    weights = torch.softmax(products[:, None] / divisors[:, :, None, None], dim=-1)  # (6, 3, trials, keys)
    outer = weights[..., :, None] * weights[..., None, :]  # (6, 3, trials, keys, keys)
    row_sums = (weights - outer.sum(-1)).abs().amax(-1)
    # p(1 − p) would lose its digits where p is nearly 1; the sum of the other products keeps them.
    outer.diagonal(dim1=-2, dim2=-1).zero_()
    diagonal = outer.sum(-1)
    norm = (outer.square().sum((-2, -1)) + diagonal.square().sum(-1)).sqrt()
    return entropy(weights), weights.amax(-1), norm, row_sums


def _example(measured: Measured, params: SqrtDkParams, chosen: tuple[int, ...]) -> Heatmap:
    products = measured.example[WIDTHS.index(params.d_k)]  # (keys,)
    divisors = torch.tensor([1.0, math.sqrt(params.d_k), params.d_k], dtype=torch.float64)[list(chosen)]
    scores = products / divisors[:, None]  # (scales, keys)
    return Heatmap(
        "example",
        say("Weights of one query, d_k = {d_k}", d_k=params.d_k),
        array(torch.softmax(scores, dim=-1)),
        tuple(FORMULAS[scale] for scale in params.scale),
        counted("k", params.keys),
        say("scores"),
        say("keys"),
        0.0,
        1.0,
        details=(Detail(say("score"), array(scores)),),
    )


def _table(measured: Measured, chosen: tuple[int, ...]) -> Table:
    columns = (
        Column(say("d_k"), "d"),
        Column(say("variance of q·k"), ".4g"),
        Column(say("scaling")),
        Column(say("entropy"), ".3f"),
        Column(say("largest weight"), ".3f"),
        Column(say("gradient, mean"), ".2e"),
        Column(say("gradient, median"), ".2e"),
    )
    statistics = (measured.entropy, measured.max_weight, measured.gradient_mean, measured.gradient_median)
    rows = tuple(
        (width, measured.variance[w].item(), SCALE_LABELS[s], *(statistic[w, s].item() for statistic in statistics))
        for w, width in enumerate(WIDTHS)
        for s in chosen
    )
    return Table("widths", say("What the softmax makes of the scores (means over the trials)"), columns, rows)


def _curves(measured: Measured, chosen: tuple[int, ...]) -> Iterator[Curves]:
    widths = array(torch.tensor(WIDTHS, dtype=torch.float64))
    drawn = (
        ("max-weight", say("Largest weight"), say("largest weight"), measured.max_weight, False),
        ("entropy", say("Entropy of a row"), say("entropy"), measured.entropy, False),
        ("gradient", say("Median size of the gradient"), say("gradient, median"), measured.gradient_median, True),
    )
    for id, title, label, statistic, logarithmic in drawn:
        series = tuple(Series(SCALE_LABELS[s], array(statistic[:, s])) for s in chosen)
        yield Curves(id, title, widths, series, say("d_k"), label, log_x=True, log_y=logarithmic, group="curves")


def _values(measured: Measured, params: SqrtDkParams, chosen: tuple[int, ...]) -> dict[str, Scalar]:
    """Values of the chosen d_k: plain names are the first chosen scaling, `…_scaled` is √d_k, then one per scaling."""
    row = WIDTHS.index(params.d_k)
    statistics = {
        "max_weight": measured.max_weight[row],
        "entropy": measured.entropy[row],
        "gradient_mean": measured.gradient_mean[row],
        "gradient_median": measured.gradient_median[row],
    }
    values: dict[str, Scalar] = {"variance": measured.variance[row].item(), "uniform_entropy": math.log(params.keys)}
    for name, statistic in statistics.items():
        values[name] = statistic[chosen[0]].item()
        values[f"{name}_scaled"] = statistic[SCALES.index("sqrt")].item()
        values |= {f"{name}_{SUFFIXES[SCALES[s]]}": statistic[s].item() for s in chosen}
    return values


def _invariants(measured: Measured, params: SqrtDkParams) -> Iterator[Invariant]:
    """Check the variance of q·k, the bound of the entropy and the rows of the Jacobian."""
    width = params.d_k
    # The keys of one trial share its query, so the trials, not the products, are what is independent.
    bound = 5 * math.sqrt((2 / width + 2 * (1 + 2 / width) / params.keys) / params.trials)
    variance = measured.variance[WIDTHS.index(width)].item()
    yield at_most(say("the variance of q·k is d_k, within five standard errors"), abs(variance / width - 1), bound)
    yield at_most(say("no row's entropy exceeds ln n"), measured.highest_entropy, math.log(params.keys))
    yield close(say("every row of the Jacobian sums to 0"), measured.largest_jacobian_row_sum, 1e-12)
