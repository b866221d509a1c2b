"""Learning rates over the steps s = 1, 2, … of a run.

constant   η(s) = η
noam       η(s) = d^−½ · min(s^−½, s · w^−3/2)                Vaswani et al., 2017, section 5.3; peak (d·w)^−½ at w
cosine     η(s) = η (1 + cos(π (s − 1)/(S − 1)))/2            Loshchilov and Hutter, SGDR, 2017; 0 at the last step
warmed_up  η(s) · min(1, s/w)                                 any of them, growing linearly for w steps
"""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int], float]


def constant(rate: float) -> Schedule:
    """Return the schedule that stays at `rate`."""
    return lambda step: rate


def noam(width: int, warmup: int) -> Schedule:
    """Return the schedule of the Transformer paper; a scheduler that starts at step 0 gets the rate of step 1."""

    def rate(step: int) -> float:
        step = max(step, 1)
        return float(width**-0.5 * min(step**-0.5, step * warmup**-1.5))

    return rate


def cosine(rate: float, steps: int) -> Schedule:
    """Return the schedule that falls from `rate` at step 1 to 0 at step `steps`, along half a cosine."""
    return lambda step: rate * (1 + math.cos(math.pi * min(step - 1, steps - 1) / max(steps - 1, 1))) / 2


def warmed_up(schedule: Schedule, warmup: int) -> Schedule:
    """Return `schedule`, multiplied by s/warmup until that is 1; unchanged for a warm-up of 0 steps."""
    return (lambda step: schedule(step) * min(1.0, step / warmup)) if warmup else schedule
