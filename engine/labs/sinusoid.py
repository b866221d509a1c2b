"""Computes the lab `sinusoid`: position encodings, their dot products, and the rotation R_k that shifts them.

    PE[p] = (sin pω_0, cos pω_0, sin pω_1, …)        ω_i = base^(−2i/d), wavelength 2π/ω_i
    PE[p + k] = R_k PE[p]                            R_k has the blocks [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]]

PE at p + k is computed from the formula, never looked up: a negative position would wrap to the end of a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.sinusoid import STARTS, SinusoidParams
from engine.contract.message import say
from engine.contract.report import Column, Curves, Event, Heatmap, Invariant, Note, Panel, Report, Scalar, Series, Table
from engine.labs.base import Context, array, close, largest, not_checked
from engine.layers.positional import sinusoidal
from engine.layers.rotary import rotary

LONGEST_OFFSET = 127  # how far the curve of dot products goes, whatever n is
RATIO_WIDTHS = (64, 128, 256, 512, 1024)
OTHER_SHIFT = 3  # for R_a R_b = R_{a+b}
NEEDS_PAIRS = say("needs even d: the last sine has no cosine")


@dataclass(frozen=True)
class Encoding:
    """PE of positions 0 … n − 1 (n, d), the angular speed ω of each pair (⌈d/2⌉,), PE[0]·PE[k] (128,), all float64.

    With even d, `rotation` is R_k (d, d) and `shifted` PE of positions k … k + n − 1 (n, d).
    """

    table: Tensor
    speeds: Tensor
    products: Tensor
    shifted: Tensor
    rotation: Tensor | None

    @property
    def shift_errors(self) -> Tensor:
        """|R_k PE[p] − PE[p + k]|, (n, d); only with even d."""
        assert self.rotation is not None
        return (self.table @ self.rotation.T - self.shifted).abs()


def run(params: SinusoidParams, context: Context) -> Iterator[Event]:
    """Yield the report of one encoding."""
    encoding = _encode(params)
    ratio = _measured_ratio(encoding.table, params, context)
    panels: tuple[Panel, ...] = (
        _picture(encoding),
        _products(encoding),
        _wavelengths(encoding, params),
        _shift(encoding, params),
        _gram(encoding),
        _ratios(),
    )
    yield Report(panels, _values(encoding, params, ratio), tuple(_invariants(encoding, params)))


def shift_matrix(shift: int, width: int, base: float) -> Tensor:
    """Return R_k for an even width, (width, width), float64."""
    angles = shift * _speeds(width, base)  # (width/2,)
    cosine, sine = angles.cos(), angles.sin()
    blocks = torch.stack((cosine, sine, -sine, cosine), dim=-1).reshape(-1, 2, 2)  # (width/2, 2, 2)
    matrix: Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
    return matrix


def _speeds(width: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)  # (⌈width/2⌉,)


def _encode(params: SinusoidParams) -> Encoding:
    table = sinusoidal(params.n, params.d, base=params.base)
    far = sinusoidal(LONGEST_OFFSET + 1, params.d, base=params.base)  # (128, d)
    return Encoding(
        table=table,
        speeds=_speeds(params.d, params.base),
        products=far @ far[0],
        shifted=sinusoidal(params.n, params.d, base=params.base, offset=params.shift),
        rotation=None if params.d % 2 else shift_matrix(params.shift, params.d, params.base),
    )


def _measured_ratio(table: Tensor, params: SinusoidParams, context: Context) -> float:
    """Return ‖PE‖/‖√d E‖ for embeddings E drawn as chosen."""
    std = 1.0 if params.emb_std == STARTS[0] else params.d**-0.5
    embeddings = std * context.normal("embeddings", params.n, params.d)
    return float(table.norm() / (embeddings.norm() * math.sqrt(params.d)))


def expected_ratio(width: int, start: str) -> float:
    """Return the root mean square of a position over that of an embedding after √d: 1/√(2d), or 1/√2."""
    return 1 / math.sqrt(2 * width) if start == STARTS[0] else 1 / math.sqrt(2)


def _picture(encoding: Encoding) -> Heatmap:
    n, d = encoding.table.shape
    return Heatmap(
        "encoding",
        say("Position encoding"),
        array(encoding.table),
        tuple(str(p) for p in range(n)),
        tuple(str(i) for i in range(d)),
        say("positions"),
        say("dims"),
        -1.0,
        1.0,
        "diverging",
    )


def _products(encoding: Encoding) -> Curves:
    return Curves(
        "products",
        say("How alike two positions are: PE[0]·PE[k]"),
        array(torch.arange(LONGEST_OFFSET + 1, dtype=torch.float64)),
        (Series(say("PE[0]·PE[k]"), array(encoding.products)),),
        say("offset k"),
        say("dot product"),
    )


def _wavelengths(encoding: Encoding, params: SinusoidParams) -> Table:
    columns = (
        Column(say("dims")),
        Column(say("turn per position ω"), ".6g"),
        Column(say("wavelength 2π/ω"), ",.2f"),
        Column(say("turns over n positions"), ".3g"),
    )
    rows = tuple(
        (
            f"{2 * i}, {2 * i + 1}" if 2 * i + 1 < params.d else str(2 * i),
            speed,
            2 * math.pi / speed,
            params.n * speed / (2 * math.pi),
        )
        for i, speed in enumerate(encoding.speeds.tolist())
    )
    return Table("wavelengths", say("The hands of the clock, fastest first"), columns, rows)


def _shift(encoding: Encoding, params: SinusoidParams) -> Table | Note:
    """R_k pair by pair, beside the turn that rotary encoding makes at position k."""
    if encoding.rotation is None:
        return Note("shift", say("R_k {needs}.", needs=NEEDS_PAIRS))
    first_of_pair = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(params.d // 2)  # (1, 0) in every pair
    turned = rotary(first_of_pair[None], offset=params.shift, base=params.base)[0]  # (d,)
    columns = (
        Column(say("dims")),
        Column(say("R_k, first row")),
        Column(say("R_k, second row")),
        Column(say("rotary: (1, 0) becomes")),
        Column(say("largest error over p"), ".1e"),
    )
    errors = encoding.shift_errors.amax(0)  # (d,)
    rows = []
    for i in range(params.d // 2):
        pair = slice(2 * i, 2 * i + 2)
        block = encoding.rotation[pair, pair].tolist()
        cells = (_pair(block[0]), _pair(block[1]), _pair(turned[pair].tolist()))
        rows.append((f"{2 * i}, {2 * i + 1}", *cells, errors[pair].max().item()))
    title = say("R_k for k = {shift}: PE[p + k] = R_k PE[p] at every p", shift=params.shift)
    return Table("shift", title, columns, tuple(rows))


def _pair(numbers: list[float]) -> str:
    return " ".join(f"{number:.4f}" for number in numbers)


def _gram(encoding: Encoding) -> Heatmap:
    gram = encoding.table @ encoding.table.T  # (n, n)
    labels = tuple(str(p) for p in range(len(gram)))
    bound = largest(gram)
    positions = say("positions")
    return Heatmap(
        "gram",
        say("Dot products PE·PEᵀ"),
        array(gram),
        labels,
        labels,
        positions,
        positions,
        -bound,
        bound,
        "diverging",
    )


def _ratios() -> Table:
    columns = (Column(say("width d"), "d"), *(Column(say("std {std}, times √d", std=start), ".3f") for start in STARTS))
    rows = tuple((width, *(expected_ratio(width, start) for start in STARTS)) for width in RATIO_WIDTHS)
    return Table("ratios", say("Size of a position relative to its embedding"), columns, rows)


def _values(encoding: Encoding, params: SinusoidParams, ratio: float) -> dict[str, Scalar]:
    """`row_p` are the first rows of PE; `products` are PE[0]·PE[k] for k = 0 … 127."""
    wavelengths = 2 * math.pi / encoding.speeds
    values: dict[str, Scalar] = {
        "shortest_wavelength": wavelengths[0].item(),
        "longest_wavelength": wavelengths[-1].item(),
        "base_wavelength": 2 * math.pi * params.base,
        "products": encoding.products.tolist(),
        "products_fall_steadily": bool((encoding.products.diff() < 0).all()),
        "squared_norm": encoding.table[-1].square().sum().item(),
        "ratio": expected_ratio(params.d, params.emb_std),
        "ratio_measured": ratio,
        "ratio_512": expected_ratio(512, params.emb_std),
        "needs_even_d": encoding.rotation is None,
    }
    values |= {f"row_{p}": row for p, row in enumerate(encoding.table[:4].tolist())}
    if encoding.rotation is not None:
        values["shift_error"] = largest(encoding.shift_errors)
        values["toeplitz_error"] = toeplitz_error(encoding.table)
    return values


def toeplitz_error(table: Tensor) -> float:
    """Return how much PE[p]·PE[q] varies where q − p is the same."""
    gram = table @ table.T
    diagonals = (gram.diagonal(offset) for offset in range(len(gram)))
    return max(largest(diagonal - diagonal[0]) for diagonal in diagonals)


def _invariants(encoding: Encoding, params: SinusoidParams) -> Iterator[Invariant]:
    n, d = params.n, params.d
    first = torch.arange(d, dtype=torch.float64) % 2  # 0, 1, 0, 1, …
    yield close(say("PE[0] is 0, 1, 0, 1, …"), encoding.table[0] - first, 0.0)
    fits = encoding.table.shape == (n, d) and bool(encoding.table.isfinite().all())
    yield Invariant(say("PE has n rows of width d, all finite"), fits, say("{n} × {d}", n=n, d=d))
    names = (
        say("‖PE[p]‖² = d/2 at every position"),
        say("PE[p]·PE[q] depends on q − p alone"),
        say("PE[p + k] = R_k PE[p]"),
        say("R_k is orthogonal"),
        say("R_a R_b = R_(a+b)"),
        say("R_k turns the other way than rotary encoding"),
    )
    if encoding.rotation is None:
        yield from (not_checked(name, NEEDS_PAIRS) for name in names)
        return
    rotation = encoding.rotation
    other, both = (shift_matrix(k, d, params.base) for k in (OTHER_SHIFT, params.shift + OTHER_SHIFT))
    identity = torch.eye(d, dtype=torch.float64)
    rotary_turn = rotary(identity[:, None], offset=params.shift, base=params.base)[:, 0].T  # (d, d): columns turned
    errors: tuple[tuple[Tensor | float, float], ...] = (
        (encoding.table.square().sum(-1) / (d / 2) - 1, 1e-12),
        (toeplitz_error(encoding.table), 1e-9),
        (encoding.shift_errors, 1e-9),
        (rotation @ rotation.T - identity, 1e-9),
        (rotation @ other - both, 1e-9),
        (rotation.T - rotary_turn, 1e-12),
    )
    for name, (error, tolerance) in zip(names, errors, strict=True):
        yield close(name, error, tolerance)
