"""Numbers as a learner reads them: the same digits in a column, never cut, and words for what is not finite."""

from __future__ import annotations

import math
from collections.abc import Iterable


def exact(value: float) -> str:
    """Return a number with the digits a cursor line needs: four decimals, or an exponent when those say too little."""
    if not math.isfinite(value):
        return not_finite(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 else f"{value:.3e}"


def short(value: float) -> str:
    """Return a number for the end of a scale or axis: three significant digits."""
    if not math.isfinite(value):
        return not_finite(value)
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e")


def not_finite(value: float) -> str:
    """Return the word for a number that is not finite."""
    return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"


def formatted(value: float, spec: str) -> str:
    """Return a number written with a format specification; without one, whole numbers as they are, others `exact`."""
    if not math.isfinite(value):
        return not_finite(value)
    if spec:
        return format(int(value) if spec.endswith("d") else value, spec)
    return str(value) if isinstance(value, int) else exact(value)


def decimals_that_fit(values: Iterable[float], room: int) -> int | None:
    """Return how many decimals, at most 3, `in_cell` can write all the finite values with; None when too few fit.

    Numbers up to 1 are worth showing only with two decimals or more; a 1 among them may have one less.
    """
    finite = [value for value in values if math.isfinite(value)]
    extremes = (min(finite), max(finite)) if finite else (0.0, 0.0)
    small = max(map(abs, extremes)) <= 1
    for decimals in range(3, 1 if small else -1, -1):
        if all(len(in_cell(value, decimals, room if small else 0)) <= room for value in extremes):
            return decimals
    return None


def in_cell(value: float, decimals: int, room: int) -> str:
    """Return a number right-aligned in `room` characters: ".401", "-.52"; a 1 too long for it has a decimal less."""
    if not math.isfinite(value):
        return not_finite(value).rjust(room)
    text = f"{value:.{decimals}f}"
    if text.startswith(("0.", "-0.")) and decimals:
        text = text.replace("0.", ".", 1)
    elif len(text) == room + 1 and abs(value) <= 1 and decimals > 1:
        text = f"{value:.{decimals - 1}f}"
    return text.rjust(room)
