"""More heads are thinner heads: the rank of one head's scores is at most min(n, d_k) (Bhojanapalli et al., 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.contract.message import say
from engine.contract.report import Column, Curves, Invariant, Report, Scalar, Series, Table
from engine.labs.base import Context, array, at_most, close
from engine.layers.multi_head import MultiHeadAttention

TOKENS, WIDTH, HEADS = 32, 64, (1, 2, 4, 8, 16)


def numerical_rank(matrix: Tensor) -> int:
    """Return the number of singular values above 1e-9 of the largest."""
    return int(torch.linalg.matrix_rank(matrix, rtol=1e-9))


def parameter_count(layer: nn.Module) -> int:
    """Return how many numbers a layer learns."""
    return sum(parameter.numel() for parameter in layer.parameters())


def rank_report(context: Context) -> Report:
    """Scores of 1 … 16 heads on 32 random tokens of width 64."""
    inputs = context.normal("rank inputs", TOKENS, WIDTH)
    values: dict[str, Scalar] = {}
    rows: list[tuple[int, ...]] = []
    series: list[Series] = []
    invariants: list[Invariant] = []
    for heads in HEADS:
        context.check()
        generator = context.generator("rank weights")
        layer = MultiHeadAttention(WIDTH, heads, bias=False, generator=generator, dtype=torch.float64)
        with torch.no_grad():
            _, trace = layer(inputs)
        ranks = [numerical_rank(scores) for scores in trace.scores]
        values |= {f"rank_{heads}": max(ranks), f"parameters_{heads}": parameter_count(layer)}
        rows.append((heads, layer.d_k, max(ranks), parameter_count(layer)))
        singular = torch.linalg.svdvals(trace.scores[0])
        series.append(Series(say("A = {heads}", heads=heads), array((singular / singular[0]).clamp(min=1e-18))))
        name = say("A = {heads}: the rank of a head's scores is at most min(n, d_k)", heads=heads)
        invariants.append(at_most(name, max(ranks), min(TOKENS, layer.d_k)))
    counts = [row[3] for row in rows]
    name = say("the number of weights does not depend on the number of heads")
    invariants.append(close(name, max(counts) - min(counts), 0.0))
    columns = (
        Column(say("heads"), "d"),
        Column(say("d_k"), "d"),
        Column(say("rank of one head's scores"), "d"),
        Column(say("parameter count"), ",d"),
    )
    title = say("{n} random tokens of width {width}", n=TOKENS, width=WIDTH)
    curves = Curves(
        "singular-values",
        say("Singular values of head 1's scores, relative to the largest"),
        array(torch.arange(1, TOKENS + 1, dtype=torch.float64)),
        tuple(series),
        say("number"),
        say("relative size"),
        log_y=True,
    )
    return Report((Table("rank", title, columns, tuple(rows)), curves), values, tuple(invariants))
