"""Delimiters, roots and braces drawn at the size of what they hold."""

from __future__ import annotations

from rich.cells import cell_len

from tutor.text.formula.boxes import Box, beside, blank, stack, text
from tutor.text.formula.symbols import PIECES


def delimiter(glyph: str, above: int, below: int) -> Box:
    """A delimiter that covers `above` rows over and `below` rows under the baseline."""
    height = above + below + 1
    if not glyph:
        return text("")
    if height == 1 or (glyph not in PIECES and glyph not in "⟨⟩"):
        return text(glyph)
    if glyph in "⟨⟩":
        return _angle(glyph, above, below)
    top, filler, bottom, *middle = list(PIECES[glyph])
    rows = [top, *[filler] * (height - 2), bottom]
    if middle:
        rows[above if 0 < above < height - 1 else height // 2] = middle[0]
    return Box(tuple(rows), 1, above, 0, height - 1)


def _angle(glyph: str, above: int, below: int) -> Box:
    reach = max(above, below + 1)
    offsets = [*range(reach - 1, -1, -1), *range(reach)]
    slopes = ["╱"] * reach + ["╲"] * reach
    if glyph == "⟩":
        offsets = [reach - 1 - offset for offset in offsets]
        slopes = ["╲"] * reach + ["╱"] * reach
    rows = tuple(
        " " * offset + slope + " " * (reach - 1 - offset) for offset, slope in zip(offsets, slopes, strict=True)
    )
    return Box(rows, reach, reach, 0, len(rows) - 1)


def enclose(left: str, parts: list[Box], right: str, middle: tuple[str, ...]) -> Box:
    """Parts between delimiters that grow when one of the parts is tall."""
    above = max(part.base - part.top for part in parts)
    below = max(part.bottom - part.base for part in parts)
    if {"{", "}"} & {left, right} and above + below == 1:  # a brace has no shape of two rows
        above, below = above or 1, below or 1
    gap = [text(" ")] if above + below else []
    boxes = [delimiter(left, above, below), *(gap if left else [])]
    for bar, part in zip(("", *middle), parts, strict=True):
        boxes += [*gap, delimiter(bar, above, below), *gap, part] if bar else [part]
    boxes += [*(gap if right else []), delimiter(right, above, below)]
    return beside(boxes)


def root(body: Box, index: str) -> Box:
    """A root sign that joins the line over its radicand."""
    if not body.tall and body.base == 0:
        line = beside([blank(1), text("_" * body.width)])
        joined = stack([line, beside([text("√"), body])], 1, core=(1, 1))
        return beside([text(index), joined]) if index else joined
    height = body.height
    width = cell_len(index)
    hook = [" " * (height - row) + "╱" + " " * row for row in range(height)]
    hook = [row[: height + 1] for row in hook]
    hook[-1] = "╲╱" + " " * (height - 1)
    # The index stands on the short stroke of the sign, and beyond its left end when it is wide.
    beyond = max(width - 1, 0)
    hook = [" " * beyond + row for row in hook]
    if index:
        hook[-2] = index + hook[-2][width:]
    start = beyond + height + 1
    lines = [" " * start + "_" * (body.width + 1)]
    lines += [f"{left} {row}" for left, row in zip(hook, body.rows, strict=True)]
    return Box(tuple(lines), start + 1 + body.width, body.base + 1, 0, height)


def brace(width: int, *, over: bool) -> Box:
    """A horizontal brace of at least three cells."""
    width = max(width, 3)
    left = (width - 3) // 2
    right = width - 3 - left
    ends, tip = ("╭╮", "┴") if over else ("╰╯", "┬")
    return text(ends[0] + "─" * left + tip + "─" * right + ends[1])
