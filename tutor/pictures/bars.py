"""Bars as styled lines: label, bar to an eighth of a cell, number. Negative values go left of a common zero."""

from __future__ import annotations

import math

from engine.contract.message import Message
from engine.contract.report import Bars
from tutor.pictures.ink import MUTED, Colour, Line, Look, Span, Translate, merged
from tutor.pictures.numbers import exact, not_finite
from tutor.pictures.palette import NOT_FINITE
from tutor.pictures.rule import title_rule
from tutor.terminal import Depth, Terminal
from tutor.text.width import cells, clean, cut, pad

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_POSITIVE: Colour = (95, 175, 255)
_NEGATIVE: Colour = (255, 135, 95)


def draw_bars(panel: Bars, width: int, translate: Translate, terminal: Terminal) -> list[Line]:
    """Draw one line per bar, as long as its value on a scale that begins at or includes 0."""
    labels = [clean(translate(label) if isinstance(label, Message) else label) for label in panel.labels]
    values = [float(value) for value in panel.values.flat()]
    numbers = _numbers(values)
    head = [
        title_rule(translate(panel.title), width, terminal.unicode),
        [Span(cut(translate(panel.value_label), width), MUTED)],
    ]
    left = min(max(map(cells, labels), default=0), 16, width // 3)
    right = max(map(len, numbers), default=0)
    room = max(1, width - left - right - 2)
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    zero = round(room * -low / (high - low)) if high > low else 0
    scale = (room / (high - low)) if high > low else 0.0
    lines: list[Line] = []
    for label, value, number in zip(labels, values, numbers, strict=True):
        bar = _bar(value, zero, room, scale, terminal)
        lines.append(merged([Span(pad(label, left) + " "), *bar, Span(" " + number.rjust(right), MUTED)]))
    return head + lines


def _numbers(values: list[float]) -> list[str]:
    """Return the numbers with the same decimals, so that their points stand under each other."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    if not sizes or all(value == int(value) for value in sizes):
        return [f"{int(value):,}" if math.isfinite(value) else not_finite(value) for value in values]
    if max(sizes) < 1e-3 or max(sizes) >= 1e6:
        return [exact(value) for value in values]
    decimals = 4 if max(sizes) < 10 else 2
    return [f"{value:,.{decimals}f}" if math.isfinite(value) else not_finite(value) for value in values]


def _bar(value: float, zero: int, room: int, scale: float, terminal: Terminal) -> Line:
    coloured = terminal.depth != Depth.NONE
    if not math.isfinite(value):
        mark = "!" if math.isinf(value) else "·" if terminal.unicode else "?"
        look = Look(NOT_FINITE if coloured else None, role="warning")
        return [Span(" " * min(zero, room - 1)), Span(mark, look), Span(" " * (room - min(zero, room - 1) - 1))]
    look = Look((_POSITIVE if value >= 0 else _NEGATIVE) if coloured else None)
    length = abs(value) * scale
    if value < 0:
        whole = min(zero, max(1, round(length)))
        ink = "█" if terminal.unicode else "="
        return [Span(" " * (zero - whole)), Span(ink * whole, look), Span(" " * (room - zero))]
    text = _blocks(min(length, room - zero)) if terminal.unicode else "#" * min(room - zero, round(length))
    return [Span(" " * zero), Span(text, look), Span(" " * (room - zero - len(text)))]


def _blocks(length: float) -> str:
    """Return a bar of full blocks whose last cell is filled to the eighth; anything above 0 is visible."""
    eighths = max(round(length * 8), 1 if length > 0 else 0)
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")
