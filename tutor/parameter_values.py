"""How the value of a parameter is stepped, toggled and written, kind by kind: what a form does without a screen."""

from __future__ import annotations

import math
from typing import Any

from engine.contract.kinds import Boolean, Choice, Choices, Integer, Kind, Numbers, Real, Text
from engine.contract.message import Message, say

LOG_STEPS_PER_DECADE = 10
LINEAR_STEPS = 40


def stepped(kind: Kind, value: Any, steps: int, allowed: tuple[Any, ...] | None = None) -> Any:
    """Return the value `steps` to the right of `value` (left when negative), staying inside the range.

    `allowed` are the choices that go with the other parameters. Text and numbers do not step.
    """
    if isinstance(kind, Integer):
        return max(kind.minimum, min(kind.maximum, value + steps * kind.step))
    if isinstance(kind, Real):
        return _stepped_real(kind, float(value), steps)
    if isinstance(kind, Boolean):
        return not value if steps % 2 else value
    if isinstance(kind, Choice):
        options = allowed or kind.options
        at = options.index(value) if value in options else 0
        return options[(at + steps) % len(options)]
    return value


def _stepped_real(kind: Real, value: float, steps: int) -> float:
    if kind.scale == "log":
        exponent = round(math.log10(value) * LOG_STEPS_PER_DECADE) + steps
        moved = 10 ** (exponent / LOG_STEPS_PER_DECADE)
    else:
        moved = value + steps * (kind.maximum - kind.minimum) / LINEAR_STEPS
    return max(kind.minimum, min(kind.maximum, float(f"{moved:.2g}" if kind.scale == "log" else f"{moved:.4g}")))


def toggled(kind: Choices, value: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Return the subset with `option` in or out; the last one stays."""
    changed = tuple(o for o in kind.options if (o in value) != (o == option))
    return changed or value


def steps_by_arrows(kind: Kind) -> bool:
    """Tell whether left and right change a value of this kind."""
    return isinstance(kind, (Integer, Real, Choice, Boolean))


def typed(kind: Kind) -> bool:
    """Tell whether enter opens a field for a value of this kind."""
    return isinstance(kind, (Integer, Real, Text, Numbers))


def written(kind: Kind, value: Any) -> str | Message:
    """Return a value as a form shows it."""
    if isinstance(kind, Choice):
        return kind.option_label(value)
    if isinstance(kind, Boolean):
        return say("on") if value else say("off")
    if isinstance(kind, Real):
        return f"{value:.4g}"
    if isinstance(kind, Numbers):
        return editable(kind, value) or say("the lab's own")
    return str(value)


def editable(kind: Kind, value: Any) -> str:
    """Return a value as text that `kind.read` reads back."""
    if isinstance(kind, Numbers):
        rows = value if kind.shape == "matrix" else ((value,) if value else ())
        return "; ".join(" ".join(f"{x:g}" for x in row) for row in rows)
    if isinstance(kind, Real):
        return f"{value:.6g}"
    return str(value)
