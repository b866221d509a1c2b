"""Axes with ticks at round numbers, linear and logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tutor.pictures.numbers import short


@dataclass(frozen=True)
class Axis:
    """The ends of an axis and its ticks with their labels; a logarithmic axis counts in powers of ten."""

    low: float
    high: float
    ticks: list[float]
    labels: list[str]


def linear_axis(low: float, high: float, most: int) -> Axis:
    """Return an axis from low to high with about `most` ticks at multiples of 1, 2 or 5 · 10ᵏ.

    Data of no extent are given some room around them.
    """
    if high <= low:
        margin = abs(low) / 10 or 1.0
        low, high = low - margin, high + margin
    rough = high / max(1, most) - low / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = [index * step for index in range(first, last + 1)]
    return Axis(low, high, ticks, _labels(ticks, step))


def _labels(ticks: list[float], step: float) -> list[str]:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals > 3 or max(map(abs, ticks), default=0) >= 1e5:
        return [short(tick) for tick in ticks]
    return [f"{tick:.{decimals}f}" for tick in ticks]


def log_axis(low: float, high: float, most: int) -> Axis:
    """Return an axis from 10^low to 10^high with at most `most` ticks at powers of ten.

    Data within one power of ten are given the whole of it.
    """
    if math.floor(high + 1e-9) - math.ceil(low - 1e-9) < 1:
        low = float(math.floor(low + 1e-9))
        high = max(low + 1, float(math.ceil(high - 1e-9)))
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / max(1, most)))
    exponents = range(last, first - 1, -stride)[::-1]
    return Axis(low, high, [float(exponent) for exponent in exponents], [_power(exponent) for exponent in exponents])


def _power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 4 else f"1e{exponent}"
