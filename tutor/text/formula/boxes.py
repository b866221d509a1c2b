"""Rectangles of text with a baseline, and how they are put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len


@dataclass(frozen=True)
class Box:
    """Rows of equal width; `base` is the row of the baseline.

    Delimiters around the box cover the rows `top` … `bottom`: scripts and accents of one row stay outside, as in print.
    """

    rows: tuple[str, ...]
    width: int
    base: int
    top: int
    bottom: int

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def tall(self) -> bool:
        """Whether delimiters around the box must grow."""
        return self.bottom > self.top


def text(content: str) -> Box:
    """One row."""
    return Box((content,), cell_len(content), 0, 0, 0)


def widen(box: Box, width: int, side: str) -> Box:
    """The same box in at least `width` cells, at the side l, c or r."""
    if box.width >= width:
        return box
    left = {"l": 0, "c": (width - box.width) // 2, "r": width - box.width}[side]
    rows = tuple(" " * left + row + " " * (width - box.width - left) for row in box.rows)
    return Box(rows, width, box.base, box.top, box.bottom)


def beside(boxes: Iterable[Box]) -> Box:
    """Boxes side by side on one baseline."""
    parts = list(boxes)
    if not parts:
        return text("")
    above = max(box.base for box in parts)
    below = max(box.height - box.base for box in parts)
    rows = tuple("".join(_row(box, box.base + offset) for box in parts) for offset in range(-above, below))
    top = above - max(box.base - box.top for box in parts)
    bottom = above + max(box.bottom - box.base for box in parts)
    return Box(rows, sum(box.width for box in parts), above, top, bottom)


def _row(box: Box, index: int) -> str:
    return box.rows[index] if 0 <= index < box.height else " " * box.width


def stack(boxes: Sequence[Box], base: int, *, core: tuple[int, int] | None = None, side: str = "c") -> Box:
    """Boxes one above the other, centred unless `side` says otherwise.

    `base` counts rows from the top; `core` is (top, bottom) for delimiters, all rows unless given.
    """
    width = max(box.width for box in boxes)
    rows = tuple(row for box in boxes for row in widen(box, width, side).rows)
    top, bottom = core or (0, len(rows) - 1)
    return Box(rows, width, base, top, bottom)


def blank(width: int) -> Box:
    """Nothing, `width` cells wide."""
    return text(" " * width)
