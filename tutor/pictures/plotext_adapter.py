"""The only door to plotext: figures of an exact size in our colours, read back as styled lines.

plotext 5 keeps module-global state, limits figures to the terminal, greys what is not an RGB tuple and raises on
infinity (terminal.md): so every figure is an independent one, gets clean numbers, and leaves titles, labels, legends
and Chinese to us. Importing plotext takes 40 ms: it happens on first use, or in `warm_up` when nothing else is to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tutor.pictures.axes import Axis
from tutor.pictures.ink import Colour, Line, Look, Span, merged

_CELL = re.compile(r"\x1b\[48;5;0m\x1b\[38;2;(\d+);(\d+);(\d+)m█\x1b\[0m")
_CODE = re.compile(r"\x1b\[([\d;]*)m")

Curve = tuple[list[float], list[float], str, Colour]
"""x, y, plotext marker, colour; all numbers finite."""


def warm_up() -> None:
    """Import plotext, so that the first picture does not have to."""
    _figure()


def _figure() -> Any:
    from plotext._figure import _figure_class

    figure = _figure_class()
    figure._limit_size(False, False)
    return figure


def colour_cells(colours: Sequence[Sequence[Colour]]) -> list[list[Colour]]:
    """Draw a matrix with one full block for every colour and return the colours that plotext put there.

    Raises ValueError when the drawing is not the rigid one we know (another version of plotext).
    """
    figure = _figure()
    figure.matrix_plot([list(row) for row in colours], fast=True)
    drawn: list[list[Colour]] = []
    for line, row in zip(figure.build().split("\n"), colours, strict=True):
        cells = [(int(red), int(green), int(blue)) for red, green, blue in _CELL.findall(line)]
        if len(cells) != len(row):
            raise ValueError(f"plotext drew {len(cells)} cells for {len(row)} values")
        drawn.append(cells)
    return drawn


def line_plot(curves: Sequence[Curve], width: int, height: int, x: Axis, y: Axis) -> list[Line]:
    """Draw curves on axes in exactly `width` × `height` cells; a curve of one point is a dot.

    Tick labels are one cell a character.
    """
    figure = _figure()
    figure._set_size(width, height)
    for part in ("canvas_color", "axes_color", "ticks_color"):
        getattr(figure, part)("default")
    figure.xaxes(True, False)
    figure.yaxes(True, False)
    for xs, ys, marker, colour in curves:
        draw = figure.plot if len(xs) > 1 else figure.scatter
        draw(xs, ys, marker=marker, color=colour)
    figure.xlim(x.low, x.high)
    figure.ylim(y.low, y.high)
    figure.xticks(x.ticks, x.labels)
    figure.yticks(y.ticks, y.labels)
    return [_parse(line) for line in figure.build().rstrip("\n").split("\n")]


def _parse(line: str) -> Line:
    """Return one line of a drawing; what has no colour of its own is the frame, and muted."""
    spans: Line = []
    look = Look(role="muted")
    for index, piece in enumerate(_CODE.split(line)):
        if index % 2 == 0:
            spans.append(Span(piece, look))
            continue
        numbers = piece.split(";")
        if numbers[:2] == ["38", "2"]:
            red, green, blue = (int(number) for number in numbers[2:5])
            look = Look((red, green, blue))
        else:
            look = Look(role="muted")
    return merged(spans)
