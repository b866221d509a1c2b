"""Heatmaps, curves and bars as SVG of their own: what a notebook shows of a report.

Text and axes take the colour of their surroundings (`currentColor`), so that the pictures are legible on light and on
dark pages. The map itself is one small PNG with a palette, a pixel a value.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from html import escape

from engine.contract.message import Message
from engine.contract.report import Bars, Curves, Heatmap

Translate = Callable[[Message], str]
Colour = tuple[int, int, int]

# Viridis (Smith and van der Walt, CC0), and dark blue through grey to light yellow.
_STOPS: dict[str, tuple[Colour, ...]] = {
    "sequential": ((68, 1, 84), (59, 81, 139), (33, 144, 141), (92, 200, 99), (253, 231, 37)),
    "diverging": ((16, 32, 120), (78, 116, 168), (128, 128, 128), (188, 146, 96), (255, 234, 150)),
}
_NOT_FINITE: Colour = (255, 95, 175)
_CURVES = ("#3b82d0", "#e0703c", "#3f9e5f", "#a860c8", "#b58900", "#159a9c", "#d6508f", "#808080")
_MOST_NUMBERED = 12  # a larger map is shown without its numbers
_LONGEST_LABEL = 12
_WIDTH, _HEIGHT = 460, 220  # of the plotting area of curves
_FONT = 'font-family="sans-serif" font-size="11" fill="currentColor"'


def heatmap_svg(panel: Heatmap, translate: Translate) -> str:
    """Draw a heatmap: axis names, labels where they have room, the numbers of a small one, the ends of the scale."""
    rows, columns = panel.values.shape
    cell = 44 if max(rows, columns) <= _MOST_NUMBERED else max(2, min(24, 480 // max(rows, columns, 1)))
    left, top, width, height = 96, 44, columns * cell, rows * cell
    parts = [
        _text(left, 14, f"{translate(panel.row_axis)} ↓  {translate(panel.column_axis)} →", "start"),
        f'<image x="{left}" y="{top}" width="{width}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{_png(panel)}"/>',
    ]
    if cell >= 12:
        for row, label in enumerate(panel.row_labels[:rows]):
            parts.append(_text(left - 6, top + row * cell + cell / 2 + 4, _cut(label), "end"))
        for column, label in enumerate(panel.column_labels[:columns]):
            x, y = left + column * cell + cell / 2, top - 6
            parts.append(_text(x, y, _cut(label, 6 if cell >= 44 else 3), "middle"))
    if max(rows, columns) <= _MOST_NUMBERED:
        parts += _numbers(panel, left, top, cell)
    ends = f"{number_text(panel.minimum)} … {number_text(panel.maximum)}"
    parts.append(_text(left, top + height + 16, ends, "start"))
    return _svg(left + width + 12, top + height + 24, parts)


def curves_svg(panel: Curves, translate: Translate) -> str:
    """Draw curves; points that are not finite, or not positive on a logarithmic axis, leave gaps."""
    xs = [_scaled(float(x), panel.log_x) for x in panel.x.flat()]
    series = [[_scaled(float(y), panel.log_y) for y in one.y.flat()] for one in panel.series]
    points = [(x, y) for ys in series for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    if not points:
        return ""
    x_axis = _Axis([x for x, _ in points], panel.log_x, 70, _WIDTH)
    y_axis = _Axis([y for _, y in points], panel.log_y, 12 + _HEIGHT, -_HEIGHT)
    parts = [
        f'<rect x="70" y="12" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.4"/>'
    ]
    for place, text in x_axis.ticks():
        parts.append(_text(place, 12 + _HEIGHT + 16, text, "middle"))
    for place, text in y_axis.ticks():
        parts.append(_text(64, place + 4, text, "end"))
    parts.append(_text(70 + _WIDTH / 2, 12 + _HEIGHT + 34, translate(panel.x_label), "middle"))
    parts.append(_text(4, 10, translate(panel.y_label), "start"))
    for index, (one, ys) in enumerate(zip(panel.series, series, strict=True)):
        colour = _CURVES[index % len(_CURVES)]
        parts += _lines(xs, ys, x_axis, y_axis, colour)
        legend = 12 + _HEIGHT + 52 + 16 * index
        parts.append(f'<rect x="70" y="{legend - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(86, legend, translate(one.name), "start"))
    return _svg(70 + _WIDTH + 20, 12 + _HEIGHT + 48 + 16 * len(series), parts)


def bars_svg(panel: Bars, translate: Translate) -> str:
    """Draw one horizontal bar a label, from 0, with its number."""
    values = [float(value) for value in panel.values.flat()]
    longest = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0
    parts = [_text(4, 14, translate(panel.value_label), "start")]
    for row, value in enumerate(values):
        label = panel.labels[row] if row < len(panel.labels) else str(row + 1)
        y = 24 + 18 * row
        name = label if isinstance(label, str) else translate(label)
        length = 300 * abs(value) / longest if math.isfinite(value) else 0
        colour = _CURVES[0] if value >= 0 else _CURVES[1]
        parts.append(_text(140, y + 11, _cut(name, 20), "end"))
        parts.append(f'<rect x="146" y="{y}" width="{length:.1f}" height="13" fill="{colour}"/>')
        parts.append(_text(152 + length, y + 11, number_text(value), "start"))
    return _svg(540, 30 + 18 * len(values), parts)


def number_text(value: float, spec: str = ".4g") -> str:
    """Return a number as text; one that is not finite as a word."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return format(int(value) if spec.endswith("d") else value, spec)


class _Axis:
    """Where the values of one axis lie on the picture."""

    def __init__(self, values: Sequence[float], logarithmic: bool, start: float, length: float) -> None:
        self._low, self._high = min(values), max(values)
        if self._low == self._high:
            self._low, self._high = self._low - 0.5, self._high + 0.5
        self._logarithmic = logarithmic
        self._start, self._length = start, length

    def place(self, value: float) -> float:
        """Return the coordinate of a value."""
        return self._start + self._length * (value - self._low) / (self._high - self._low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield about five round values: coordinate and text."""
        span = self._high - self._low
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 5)
        if self._logarithmic:
            step = max(1.0, math.ceil(step))
        first = math.ceil(self._low / step)
        for index in range(first, first + 8):
            if index * step <= self._high + 1e-9 * span:
                value = 10.0 ** (index * step) if self._logarithmic else index * step
                yield self.place(index * step), format(value, ".0e" if self._logarithmic else ".4g")


def _lines(
    xs: Sequence[float | None], ys: Sequence[float | None], x_axis: _Axis, y_axis: _Axis, colour: str
) -> Iterator[str]:
    """Yield a line for every run of points without a gap; a point alone is a dot."""
    run: list[str] = []
    for x, y in [*zip(xs, ys, strict=True), (None, None)]:
        if x is not None and y is not None:
            run.append(f"{x_axis.place(x):.1f},{y_axis.place(y):.1f}")
            continue
        if len(run) == 1:
            cx, cy = run[0].split(",")
            yield f'<circle cx="{cx}" cy="{cy}" r="2.5" fill="{colour}"/>'
        elif run:
            yield f'<polyline points="{" ".join(run)}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        run = []


def _scaled(value: float, logarithmic: bool) -> float | None:
    if not math.isfinite(value) or (logarithmic and value <= 0):
        return None
    return math.log10(value) if logarithmic else value


def _numbers(panel: Heatmap, left: int, top: int, cell: int) -> Iterator[str]:
    """Yield the values over their cells, black or white."""
    for row, values in enumerate(panel.values.rows()):
        for column, value in enumerate(values):
            red, green, blue = _colours(panel.scale)[_level(float(value), panel)]
            ink = "#000" if 0.3 * red + 0.59 * green + 0.11 * blue > 120 else "#fff"
            x, y = left + column * cell + cell / 2, top + row * cell + cell / 2 + 4
            text = number_text(float(value), ".2f" if abs(value) < 100 else ".1e")
            yield f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="11" fill="{ink}">{text}</text>'


def _png(panel: Heatmap) -> str:
    """Return the map as a base64 PNG with a palette of 255 levels, the last entry for what is not finite."""
    rows, columns = panel.values.shape
    numbers = panel.values.flat()
    levels = bytes(_level(float(value), panel) for value in numbers)
    lines = b"".join(b"\0" + levels[row * columns : (row + 1) * columns] for row in range(rows))
    palette = b"".join(bytes(colour) for colour in _colours(panel.scale))
    head = struct.pack(">IIBBBBB", max(columns, 1), max(rows, 1), 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(lines or b"\0\0", 9)), (b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)).decode()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _level(value: float, panel: Heatmap) -> int:
    if not math.isfinite(value):
        return 255
    span = panel.maximum - panel.minimum
    share = (value - panel.minimum) / span if span > 0 else 0.5
    return round(254 * min(1.0, max(0.0, share)))


def _colours(scale: str) -> list[Colour]:
    """Return 255 colours along the stops, and the one for what is not finite."""
    stops = _STOPS[scale]
    colours: list[Colour] = []
    for step in range(255):
        place = step / 254 * (len(stops) - 1)
        index = min(int(place), len(stops) - 2)
        share = place - index
        red, green, blue = (round(a + (b - a) * share) for a, b in zip(stops[index], stops[index + 1], strict=True))
        colours.append((red, green, blue))
    return [*colours, _NOT_FINITE]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {_FONT}>{escape(text)}</text>'


def _cut(text: str, most: int = _LONGEST_LABEL) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    inside = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}">{inside}</svg>'
    )
