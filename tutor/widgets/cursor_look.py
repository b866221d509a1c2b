"""How the cell under the cursor looks, and rows out of focus, in every depth of colour."""

from __future__ import annotations

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tutor.pictures.heatmap import Picture
from tutor.pictures.palette import ABSENT, ink_on

_KEPT = 0.3  # of the colour of rows out of focus


def cursor_segments(picture: Picture, cursor: tuple[int, int], cell: Strip, middle: bool, base: Style) -> list[Segment]:
    """Return the cell under the cursor: brackets around what stands in it, a diamond where it is one column wide.

    In half blocks the cursor's half becomes white or black, whichever differs more from the other half.
    """
    layout, colours = picture.layout, picture.palette
    row, column = cursor
    level = picture.grid[row][column]
    if layout.halves:
        other = row ^ 1
        neighbour = picture.grid[other][column] if other < layout.rows else ABSENT
        beside = colours.colour(neighbour)
        mark = Color.from_rgb(*ink_on(beside or (0, 0, 0)))
        rest = base.bgcolor if beside is None else Color.from_rgb(*beside)
        return [Segment("▀" if row % 2 == 0 else "▄", base + Style(color=mark, bgcolor=rest))]
    background = colours.colours[level] if level >= 0 and colours.colours and not colours.shades else None
    if background is None:
        style = base + Style(reverse=True, bold=True)
    else:
        style = base + Style(color=Color.from_rgb(*ink_on(background)), bgcolor=Color.from_rgb(*background), bold=True)
    return [Segment(_bracketed(cell.text, middle, colours.unicode), style)]


def _bracketed(text: str, middle: bool, unicode: bool) -> str:
    if len(text) == 1:
        return "◆" if unicode else "X"
    if not middle:
        return text
    inner = text[1:-1]
    return f"[{inner}]"


def dimmed(style: Style | None, base: Style, known: dict[Style, Style]) -> Style:
    """Return a style faded into the background; without colours, dim."""
    if style is None:
        return base
    faded = known.get(style)
    if faded is None:
        ground = base.bgcolor
        faded = known[style] = style + Style(
            color=_mixed(style.color, ground),
            bgcolor=_mixed(style.bgcolor, ground),
            dim=style.bgcolor == ground or None,
        )
    return faded


def _mixed(colour: Color | None, ground: Color | None) -> Color | None:
    if colour is None or ground is None or colour.triplet is None or ground.triplet is None:
        return colour
    red, green, blue = (
        round(_KEPT * part + (1 - _KEPT) * under) for part, under in zip(colour.triplet, ground.triplet, strict=True)
    )
    return Color.from_rgb(red, green, blue)
