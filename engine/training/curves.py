"""What a training run looks like: its losses, or other numbers, over the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from engine.contract.message import Message, say
from engine.contract.report import Array, Curves, Series

Line = tuple[Message, Sequence[float]]


def over_steps(
    id: str,
    title: Message,
    lines: Sequence[Line],
    steps: int,
    label: Message,
    *,
    levels: Sequence[tuple[Message, float]] = (),
    logarithmic: bool = False,
) -> Curves:
    """Return curves over steps 1 … `steps`; what has not happened yet or is not finite is a gap.

    `levels` are horizontal lines, such as the loss of guessing.
    """
    series = [Series(name, _array(_padded(values, steps))) for name, values in lines]
    series += [Series(name, _array([level] * steps)) for name, level in levels]
    numbers = _array([float(number) for number in range(1, steps + 1)])
    return Curves(id, title, numbers, tuple(series), say("step"), label, log_y=logarithmic)


def loss_curves(
    lines: Sequence[Line],
    steps: int,
    *,
    levels: Sequence[tuple[Message, float]] = (),
    logarithmic: bool = False,
) -> Curves:
    """Return the losses of one or several runs over the steps."""
    return over_steps("loss", say("Loss"), lines, steps, say("loss"), levels=levels, logarithmic=logarithmic)


def _padded(values: Sequence[float], steps: int) -> list[float]:
    finite = [value if math.isfinite(value) else math.nan for value in values]
    return finite + [math.nan] * (steps - len(finite))


def _array(values: Sequence[float]) -> Array:
    return Array("float64", (len(values),), torch.tensor(values, dtype=torch.float64).numpy().tobytes())
