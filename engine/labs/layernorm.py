"""Computes the lab `layernorm`: one row normalized in three ways that differ in ε, and what leaves the result as it is.

    √(s² + ε)         γ (x − μ)/√(s² + ε) + β           layer normalization (Ba, Kiros and Hinton, 2016), as in PyTorch
    s + ε             γ (x − μ)/(s + ε) + β
    unbiased s + ε    the same with s² = Σ(x − μ)²/(d − 1)

Numbers near the mean cancel: the rounding error of a normalized row grows with κ = max(1, |μ|/s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.layernorm import VARIANT_LABELS, VARIANTS, LayernormParams
from engine.contract.message import say
from engine.contract.report import Column, Curves, Event, Invariant, Note, Panel, Report, Scalar, Series, Table
from engine.labs.base import Context, array, close, counted, largest, not_checked, written
from engine.layers.normalization import LayerNorm

NAMES = {"sqrt(var+eps)": "sqrt_var_eps", "std+eps": "std_eps", "unbiased-std": "unbiased"}
INPUT_STDS = 10.0 ** torch.arange(-8, 3.25, 0.25, dtype=torch.float64)  # (45,): a quarter of a decade apart
MOST_SHOWN = 16
TOLERANCE = 1e-12
LARGEST_CONDITION = 1e10  # beyond it hardly a digit of the row is left
CONSTANT = say("the row is constant, up to rounding")


@dataclass(frozen=True)
class Normalized:
    """The row before scale and shift and after it, each (d,), its statistics, and the output of each variant (d,)."""

    drawn: Tensor
    row: Tensor
    mean: float
    variance: float
    outputs: dict[str, Tensor]

    @property
    def std(self) -> float:
        """s, with d in the denominator."""
        return float(self.variance**0.5)


@torch.no_grad()
def run(params: LayernormParams, context: Context) -> Iterator[Event]:
    """Yield the report of one row."""
    drawn = torch.tensor(params.x, dtype=torch.float64) if params.row == "given" else context.normal("row", params.d)
    row = params.scale * drawn + params.shift  # (d,)
    mean, variance = row.mean().item(), row.var(correction=0).item()
    outputs = {variant: _output(row, variant, params) for variant in VARIANTS}
    normalized = Normalized(drawn, row, mean, variance, outputs)
    curves = _curves(drawn, params)
    panels: tuple[Panel, ...] = (_variants(normalized), _curve_panel(curves), _features(normalized, params))
    yield Report(panels, _values(normalized, curves, params), tuple(_invariants(normalized, params, context)))


def layer(width: int, params: LayernormParams) -> LayerNorm:
    """Return the layer of the course with the gain, bias and ε of the parameters, float64."""
    built = LayerNorm(width, eps=params.eps).double()
    with torch.no_grad():
        built.gain.fill_(params.gamma)
        built.bias.fill_(params.beta)
    return built


def _output(rows: Tensor, variant: str, params: LayernormParams) -> Tensor:
    """Normalize the last dimension, (…, d) → (…, d)."""
    if variant == VARIANTS[0]:
        output: Tensor = layer(rows.shape[-1], params)(rows)[0]
        return output
    centred = rows - rows.mean(-1, keepdim=True)
    std = centred.std(-1, correction=0 if variant == "std+eps" else 1, keepdim=True)  # (…, 1)
    return params.gamma * centred / (std + params.eps) + params.beta


def _is_constant(row: Tensor) -> bool:
    """Tell whether too few digits of the row's variation are left to normalize it without ε."""
    std = row.std(correction=0).item()
    return std < 1e-150 or row.abs().max().item() / std > LARGEST_CONDITION


def _condition(row: Tensor, divisor: float) -> float:
    return max(1.0, abs(row.mean().item()) / divisor)


def _curves(drawn: Tensor, params: LayernormParams) -> dict[str, Tensor] | None:
    """Return the output std of each variant for the row brought to mean 0 and each of INPUT_STDS, (45,)."""
    if _is_constant(drawn):
        return None
    centred = drawn - drawn.mean()
    rows = INPUT_STDS[:, None] * (centred / centred.std(correction=0))  # (45, d)
    return {variant: _output(rows, variant, params).std(-1, correction=0) for variant in VARIANTS}


def _variants(normalized: Normalized) -> Table:
    columns = (
        Column(say("divided by")),
        Column(say("output")),
        Column(say("mean"), ".4g"),
        Column(say("std s"), ".6g"),
    )
    rows = tuple(
        (label, written(output, ".4f"), output.mean().item(), output.std(correction=0).item())
        for label, output in zip(VARIANT_LABELS, normalized.outputs.values(), strict=True)
    )
    title = say("One row, three ways: μ = {mean:.6g}, s = {std:.6g}", mean=normalized.mean, std=normalized.std)
    return Table("variants", title, columns, rows)


def _curve_panel(curves: dict[str, Tensor] | None) -> Curves | Note:
    if curves is None:
        return Note("curve", say("A constant row has no direction to scale: no curve."))
    series = (Series(label, array(curves[variant])) for variant, label in zip(VARIANTS, VARIANT_LABELS, strict=True))
    return Curves(
        "curve",
        say("What ε does to rows of small variance"),
        array(INPUT_STDS),
        tuple(series),
        say("std of the input"),
        say("std of the output"),
        log_x=True,
    )


def _features(normalized: Normalized, params: LayernormParams) -> Table:
    columns = (
        Column(say("feature")),
        Column(say("x"), ".6g"),
        Column(say("a·x + b"), ".6g"),
        Column(say("minus μ"), ".4g"),
        Column(say("output"), ".4f"),
    )
    row, output = normalized.row, normalized.outputs[params.variant]
    count = min(len(row), MOST_SHOWN)
    cells = (normalized.drawn, row, row - normalized.mean, output)
    rows = tuple(zip(counted("x", count), *(cell[:count].tolist() for cell in cells), strict=True))
    return Table("features", say("Feature by feature (the first {count})", count=count), columns, rows)


def _values(normalized: Normalized, curves: dict[str, Tensor] | None, params: LayernormParams) -> dict[str, Scalar]:
    """`change` is how far scale and shift move the output; `curve_…` are output stds at `input_stds`."""
    output = normalized.outputs[params.variant]
    change = largest(output - _output(normalized.drawn, params.variant, params))
    values: dict[str, Scalar] = {
        "mean": normalized.mean,
        "variance": normalized.variance,
        "std": normalized.std,
        "output": output.tolist(),
        "output_mean": output.mean().item(),
        "output_std": output.std(correction=0).item(),
        "output_norm": output.norm().item(),
        "change": change,
        "changes": change > 1e-3,
        "input_stds": INPUT_STDS.tolist(),
    }
    for variant, name in NAMES.items():
        values[f"output_{name}"] = normalized.outputs[variant].tolist()
        values[f"std_{name}"] = normalized.outputs[variant].std(correction=0).item()
        if curves is not None:
            values[f"curve_{name}"] = curves[variant].tolist()
    return values


def _invariants(normalized: Normalized, params: LayernormParams, context: Context) -> Iterator[Invariant]:
    row = normalized.row
    width = len(row)
    yield _like_torch(normalized, params)
    own = layer(width, params)
    others = torch.stack((context.normal("neighbours", width), row, -row))  # (3, d)
    alone, together = own(row[None])[0][0], own(others)[0][1]
    yield close(say("a row does not depend on its neighbours"), together - alone, 0.0)
    constant = own(torch.full((width,), 3.0, dtype=row.dtype))[0]
    yield close(say("a constant row becomes β"), constant - params.beta, TOLERANCE)
    yield from _without_eps(normalized, params)


def _like_torch(normalized: Normalized, params: LayernormParams) -> Invariant:
    name = say("equals torch's layer_norm")
    if params.variant != VARIANTS[0]:
        return not_checked(name, say("PyTorch divides by √(s² + ε)"))
    row = normalized.row
    gain, bias = (torch.full_like(row, number) for number in (params.gamma, params.beta))
    reference = F.layer_norm(row, row.shape, gain, bias, params.eps)
    # With ε the divisor never gets as small as s: the bound |μ|/√(s² + ε) is the sharper one.
    condition = _condition(row, (normalized.variance + params.eps) ** 0.5)
    return close(name, reference - normalized.outputs[params.variant], TOLERANCE * condition)


def _without_eps(normalized: Normalized, params: LayernormParams) -> Iterator[Invariant]:
    """What holds exactly for ε = 0, γ = 1, β = 0 and a row that is not constant."""
    names = (
        say("without ε: LN(a·x + b) = LN(x) for a > 0"),
        say("without ε: LN(−x) = −LN(x)"),
        say("without ε: the output has norm √d"),
    )
    drawn, row = normalized.drawn, normalized.row
    if _is_constant(drawn) or _is_constant(row):
        yield from (not_checked(name, CONSTANT) for name in names)
        return
    width = len(row)
    bare = LayerNorm(width, eps=0.0).double()
    plain, moved, negative = bare(torch.stack((drawn, row, -drawn)))[0]  # each (d,)
    condition = max(_condition(x, x.std(correction=0).item()) for x in (drawn, row))
    yield close(names[0], moved - plain, TOLERANCE * condition)
    yield close(names[1], negative + plain, TOLERANCE * condition)
    yield close(names[2], plain.norm() / width**0.5 - 1, 1e-9)
