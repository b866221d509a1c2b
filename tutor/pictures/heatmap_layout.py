"""Where everything of a heatmap goes: how large a cell is, what is pooled, where the labels stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.contract.report import Heatmap
from tutor.text.width import cells, clean

LABEL_CELLS = 8
"""Labels are cut to this width (labs.md, section 0)."""

_HEAD = 3  # title, axis names, column labels
_TALLEST = 36  # lines of map where the page decides the height


@dataclass(frozen=True)
class Layout:
    """The geometry of one heatmap in terminal cells.

    `rows` × `columns` cells are shown, each of `cell_width` × `cell_height`, or half a line high when `halves`. Each
    stands for a block of `pool_rows` × `pool_columns` values. The map begins at (`left`, `top`). `digits` of the cells
    left of it are numbers before the row labels.
    """

    rows: int
    columns: int
    cell_width: int
    cell_height: int
    halves: bool
    pool_rows: int
    pool_columns: int
    left: int
    digits: int = 0
    top: int = _HEAD

    @property
    def map_width(self) -> int:
        """Columns of the terminal under the map."""
        return self.columns * self.cell_width

    @property
    def map_height(self) -> int:
        """Lines of the map."""
        return math.ceil(self.rows / 2) if self.halves else self.rows * self.cell_height

    def region(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Return x, y, width and height of a shown cell; two rows of half blocks share a line."""
        y = row // 2 if self.halves else row * self.cell_height
        return self.left + column * self.cell_width, self.top + y, self.cell_width, self.cell_height

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Return the row and column shown at a place, None beside the map."""
        column, line = (x - self.left) // self.cell_width, y - self.top
        row = line * 2 if self.halves else line // self.cell_height
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None


def label_of(labels: tuple[str, ...], index: int) -> str:
    """Return a label, or the position from 1 where the panel names none."""
    return clean(labels[index]) if index < len(labels) else str(index + 1)


def gutter(panel: Heatmap, width: int) -> int:
    """Return the cells for the row labels and the blank after them, about a third of the width at most."""
    rows = panel.values.shape[0]
    longest = max((cells(label) for label in panel.row_labels), default=0) or len(str(rows))
    return max(1, min(longest, LABEL_CELLS, width // 3)) + 1


def plan(panel: Heatmap, width: int, height: int | None, half_blocks: bool, numbers: bool) -> Layout:
    """Return the layout of a heatmap in `width` columns and `height` lines of map and labels above it.

    Every value gets a cell of its own when that fits; else two values share a cell as half blocks (where the terminal
    can show them); else blocks of values are pooled, square ones for a square matrix.
    """
    rows, columns = panel.values.shape
    left = gutter(panel, width)
    room_wide = max(1, width - left)
    room_high = _TALLEST if height is None else max(1, height - _HEAD)
    if columns <= room_wide and rows <= room_high:
        cell_width = min(wanted_cell(panel, numbers), room_wide // columns)
        digits = len(str(rows)) + 1 if explains_columns(panel, cell_width) else 0
        if columns + digits <= room_wide:
            cell_width = min(cell_width, (room_wide - digits) // columns)
        else:
            digits = 0
        spare = 1 if height is None and rows > 4 else room_high // max(1, rows)
        cell_height = max(1, min(spare, cell_width // 3))
        return Layout(rows, columns, cell_width, cell_height, False, 1, 1, left + digits, digits)
    pool_rows = math.ceil(rows / (2 * room_high if half_blocks else room_high))
    pool_columns = math.ceil(columns / room_wide)
    if rows == columns:
        pool_rows = pool_columns = max(pool_rows, pool_columns)
    shown_rows, shown_columns = math.ceil(rows / pool_rows), math.ceil(columns / pool_columns)
    cell_width = 1 if half_blocks else min(2, room_wide // shown_columns)
    return Layout(shown_rows, shown_columns, cell_width, 1, half_blocks, pool_rows, pool_columns, left)


def wanted_cell(panel: Heatmap, numbers: bool) -> int:
    """Return the width a cell has where there is room: its label and a blank, or a number."""
    longest = max((cells(label) for label in panel.column_labels), default=1)
    return max(6 if numbers else 4, min(longest + 1, LABEL_CELLS))


def explains_columns(panel: Heatmap, cell_width: int) -> bool:
    """Tell whether the row labels bear numbers, because the columns show only the numbers of the same labels."""
    return panel.row_labels == panel.column_labels and numbered(panel, cell_width)


def numbered(panel: Heatmap, cell_width: int) -> bool:
    """Tell whether the columns show positions because their labels do not fit."""
    longest = max((cells(label) for label in panel.column_labels), default=0)
    if not panel.column_labels or longest <= shown_label(cell_width) or cell_width >= 4:
        return False
    return not all(label.isascii() and label.isdigit() for label in panel.column_labels)


def shown_label(cell_width: int) -> int:
    """Return the width of a column label: narrow cells give it all they have, wider ones keep a blank."""
    return cell_width if cell_width <= 2 else cell_width - 1
