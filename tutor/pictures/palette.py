"""The colours of data, from 24 bit down to plain characters.

One number becomes a small *level* once (see grid.py), and only the palette knows how a level looks. The sequential
scale is viridis (Smith and van der Walt, matplotlib, CC0). The diverging one runs from dark blue through grey to light
yellow: its luminance rises all the way, so that the sign survives a greyscale print; where there is room, poorer
terminals also write the sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tutor.pictures.ink import Colour, Look, Span
from tutor.terminal import Depth, Terminal

Scale = Literal["sequential", "diverging"]

NAN, INFINITE, ABSENT = -1, -2, -3
"""Levels below zero: not a number; plus or minus infinity; no value at all (an odd last row in half blocks)."""

_VIRIDIS: tuple[Colour, ...] = (
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
)
_COLD_TO_WARM: tuple[Colour, ...] = (
    (16, 32, 120),
    (34, 78, 172),
    (78, 116, 168),
    (128, 128, 128),
    (188, 146, 96),
    (232, 180, 84),
    (255, 234, 150),
)
# Hand-picked in the xterm cube: 16 + 36 r + 6 g + b, ordered by luminance.
_XTERM: dict[Scale, tuple[int, ...]] = {
    "sequential": (53, 54, 55, 25, 61, 31, 36, 72, 42, 77, 113, 149, 185, 220, 227),
    "diverging": (18, 20, 26, 31, 67, 246, 173, 179, 215, 221, 228),
}
_ANSI: dict[Scale, tuple[Colour, ...]] = {
    "sequential": ((0, 0, 170), (0, 170, 170), (0, 170, 0), (255, 255, 85)),
    "diverging": ((85, 85, 255),) * 3 + ((170, 170, 170),) + ((255, 85, 85),) * 3,
}
_SHADES: dict[tuple[Scale, bool], str] = {
    ("sequential", True): "░▒▓█",
    ("diverging", True): "█▓▒░▒▓█",
    ("sequential", False): ".:-=+*#@",
    ("diverging", False): "#=:.:=#",
}
# One cell has no room for a shade and a sign: the two signs get characters of their own.
_SINGLE_SIGNED = {True: "≡=-·▒▓█", False: "=~-.+*#"}
_SIGNS = "---·+++"
_STEPS: dict[Scale, int] = {"sequential": 32, "diverging": 31}
NOT_FINITE: Colour = (255, 95, 175)


@dataclass(frozen=True)
class Palette:
    """How levels 0 … count−1 look on one kind of terminal.

    `colours` is None where there are none; `shades` is None where a background colour says everything.
    """

    scale: Scale
    count: int
    colours: tuple[Colour, ...] | None
    shades: str | None
    unicode: bool

    @property
    def half_blocks(self) -> bool:
        """Whether one cell can show two values, one above the other."""
        return self.shades is None

    def look(self, level: int) -> Look:
        """Return the colours of a level."""
        if level < 0:
            return Look() if level == ABSENT else Look(self.colour(level), role="warning")
        if self.colours is None:
            return Look()
        return Look(self.colours[level]) if self.shades else Look(background=self.colours[level])

    def colour(self, level: int) -> Colour | None:
        """Return the colour of a level; None where the terminal has no colours or the level no value."""
        if level == ABSENT or self.colours is None:
            return None
        return self.colours[level] if level >= 0 else NOT_FINITE

    def text(self, level: int, width: int) -> str:
        """Return the characters of a level in a cell of `width` columns."""
        if level < 0:
            return {NAN: self.mark(NAN), INFINITE: self.mark(INFINITE)}.get(level, " ").center(width)
        if self.shades is None:
            return " " * width
        if self.scale == "sequential":
            return self.shades[level] * width
        if width == 1:
            return _SINGLE_SIGNED[self.unicode][level]
        sign = _SIGNS[level] if self.unicode else _SIGNS[level].replace("·", ".")
        return sign + self.shades[level] * (width - 1)

    def cell(self, level: int, width: int) -> Span:
        """Return a level drawn in a cell of `width` columns."""
        return Span(self.text(level, width), self.look(level))

    def mark(self, level: int) -> str:
        """Return the character that stands for a value that is not a finite number."""
        return "!" if level == INFINITE else "·" if self.unicode else "?"

    def pair(self, top: int, bottom: int) -> Span:
        """Return one cell that shows two levels as half blocks."""
        above, below = self.colour(top), self.colour(bottom)
        if above == below:
            return Span(" ", Look(background=above))
        if below is None:
            return Span("▀", Look(above))
        return Span("▀", Look(above, below))


@lru_cache(maxsize=16)
def palette(scale: Scale, terminal: Terminal) -> Palette:
    """Return the palette of a scale on a terminal."""
    if not terminal.unicode or terminal.depth == Depth.NONE:
        shades = _SHADES[scale, terminal.unicode]
        return Palette(scale, len(shades), None, shades, terminal.unicode)
    if terminal.depth == Depth.ANSI16:
        colours, shades = _ANSI[scale], _SHADES[scale, True]
        return Palette(scale, len(shades), colours, shades, True)
    if terminal.depth == Depth.ANSI256:
        colours = tuple(_xterm_colour(index) for index in _XTERM[scale])
    else:
        colours = _ramp(_VIRIDIS if scale == "sequential" else _COLD_TO_WARM, _STEPS[scale])
    return Palette(scale, len(colours), colours, None, True)


def ink_on(background: Colour) -> Colour:
    """Return black or white, whichever is read better on a background (WCAG relative luminance)."""
    return (0, 0, 0) if luminance(background) > 0.18 else (255, 255, 255)


def luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour, 0 black to 1 white (WCAG 2, with a plain power of 2.2)."""
    red, green, blue = (math.pow(part / 255, 2.2) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _ramp(stops: tuple[Colour, ...], count: int) -> tuple[Colour, ...]:
    """Return `count` colours evenly spaced along the straight lines between `stops`."""
    colours = []
    for step in range(count):
        place = step / (count - 1) * (len(stops) - 1)
        index = min(int(place), len(stops) - 2)
        share, low, high = place - index, stops[index], stops[index + 1]
        red, green, blue = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
        colours.append((red, green, blue))
    return tuple(colours)


def _xterm_colour(index: int) -> Colour:
    """Return the colour of an index of xterm's 6 × 6 × 6 cube or grey ramp."""
    if index >= 232:
        grey = 8 + 10 * (index - 232)
        return (grey, grey, grey)
    steps = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(index - 16, 36)
    return (steps[red], steps[rest // 6], steps[rest % 6])
