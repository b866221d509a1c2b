"""From the numbers of a heatmap to a grid of small levels, which every renderer draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from engine.contract.report import Heatmap
from tutor.pictures.palette import INFINITE, NAN

Pool = Literal["max", "mean"]
Levels = list[list[int]]
_FEW = 1e-12


@dataclass(frozen=True)
class Values:
    """The numbers to show: those of the panel, or one for every block of `rows` × `columns` of them."""

    numbers: list[list[float]]
    rows: int = 1
    columns: int = 1

    @property
    def pooled(self) -> bool:
        """Whether one number stands for several."""
        return self.rows * self.columns > 1


def scale_ends(panel: Heatmap) -> tuple[float, float]:
    """Return the ends of the colour scale; a diverging one is symmetric about 0.

    Ends that are not finite are replaced by those of the finite values.
    """
    low, high = panel.minimum, panel.maximum
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = [value for value in panel.values.flat() if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if panel.scale == "diverging":
        high = max(abs(low), abs(high))
        low = -high
    return low, high


def levels(panel: Heatmap, count: int, values: Values | None = None) -> Levels:
    """Return the level of every value, 0 … count−1 in equal steps of the scale, or NAN or INFINITE.

    Values outside the scale take its first or last level. On a scale of no extent the sequential level is 0 and the
    diverging one the middle.
    """
    low, high = scale_ends(panel)
    rows = panel.values.rows() if values is None else values.numbers
    extent = high - low
    if not 0 < extent < math.inf:
        constant = 0 if panel.scale == "sequential" else count // 2
        return [[constant if math.isfinite(value) else _mark(value) for value in row] for row in rows]
    # A value that is meant to lie on a step, such as 0.5 of 0 … 1, must not fall below it by rounding.
    step, top = count / extent, count - 1
    return [_row_levels(row, low, step, top) for row in rows]


def _row_levels(row: Sequence[float], low: float, step: float, top: int) -> list[int]:
    try:
        steps = [int((value - low) * step + _FEW) for value in row]
    except (ValueError, OverflowError):
        return [int(max(0, min((v - low) * step + _FEW, top))) if math.isfinite(v) else _mark(v) for v in row]
    if min(steps) >= 0 and max(steps) <= top:
        return steps
    return [0 if level < 0 else min(level, top) for level in steps]


def _mark(value: float) -> int:
    return NAN if math.isnan(value) else INFINITE


def not_finite_levels(panel: Heatmap) -> list[int]:
    """Return which of NAN and INFINITE occur in the panel."""
    return sorted({_mark(value) for value in panel.values.flat() if not math.isfinite(value)}, reverse=True)


def outside(panel: Heatmap) -> tuple[bool, bool]:
    """Tell whether finite values lie below, and above, the ends of the scale."""
    low, high = scale_ends(panel)
    slack = _FEW * max(1.0, abs(low), abs(high))
    finite = [value for value in panel.values.flat() if math.isfinite(value)]
    return bool(finite) and min(finite) < low - slack, bool(finite) and max(finite) > high + slack


def shown_values(panel: Heatmap, rows: int, columns: int, pool: Pool) -> Values:
    """Return the values of the panel pooled by blocks of `rows` × `columns`.

    `mean` averages a block; `max` takes its peak (on a diverging scale the value farthest from 0). A block that holds
    a number that is not finite shows it: an explosion must not disappear.
    """
    if rows == columns == 1:
        return Values(panel.values.rows())
    height, width = panel.values.shape
    flat = panel.values.flat()
    lines = [flat[start : start + width] for start in range(0, height * width, width)]
    reduce = _reducer(panel.scale, pool)
    pooled = []
    for top in range(0, height, rows):
        block = lines[top : top + rows]
        folded = [reduce(column) for column in zip(*block, strict=True)]
        parts = [folded[left : left + columns] for left in range(0, width, columns)]
        if pool == "mean":
            pooled.append([reduce(part) / (len(block) * len(part)) for part in parts])
        else:
            pooled.append([reduce(part) for part in parts])
    return Values(pooled, rows, columns)


def _reducer(scale: str, pool: Pool) -> Callable[[Sequence[float]], float]:
    """Return the function that makes one number of several; the mean divides their sum afterwards."""
    if pool == "mean":
        return sum
    peak = max if scale == "sequential" else partial(max, key=abs)

    def reduce(values: Sequence[float]) -> float:
        total = sum(values)
        return peak(values) if math.isfinite(total) else _first_not_finite(values)

    return reduce


def _first_not_finite(values: Sequence[float]) -> float:
    """Return NaN if there is one, else an infinity if there is one, else the peak of values whose sum overflows."""
    for test in (math.isnan, math.isinf):
        for value in values:
            if test(value):
                return value
    return max(values, key=abs)
