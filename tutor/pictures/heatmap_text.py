"""The numbers behind a heatmap: the line about the cell under the cursor, and the table of all of them."""

from __future__ import annotations

from engine.contract.report import Detail, Heatmap
from tutor.pictures.grid import Values
from tutor.pictures.heatmap_layout import LABEL_CELLS, Layout, label_of
from tutor.pictures.ink import MUTED, STRONG, Line, Span, Translate, merged
from tutor.pictures.numbers import exact, formatted
from tutor.text.width import cells, cut, pad

TABLE_LIMIT = 12
"""Rows and columns up to which a heatmap has a table of its numbers (labs.md, section 0)."""


def has_table(panel: Heatmap) -> bool:
    """Tell whether the numbers of a heatmap are few enough for a table."""
    return min(panel.values.shape) > 0 and max(panel.values.shape) <= TABLE_LIMIT


def cursor_line(
    panel: Heatmap, layout: Layout, values: Values, row: int, column: int, width: int, translate: Translate
) -> Line:
    """Return the full pair of labels and the exact value of a shown cell, with the panel's details where they fit.

    "q₁→k₁  q·k 1 → /√d_k 0.7071 → 0.4011"; a pooled cell names the ends of its block.
    """
    first = _block(panel.row_labels, row, layout.pool_rows, panel.values.shape[0])
    second = _block(panel.column_labels, column, layout.pool_columns, panel.values.shape[1])
    value = exact(values.numbers[row][column])
    steps = [] if values.pooled else [_step(detail, row, column, translate) for detail in panel.details]
    full = " → ".join([*steps, value])
    pair = f"{first}→{second}  "
    if cells(pair) + cells(full) > width:
        full = value
    room = max(0, width - cells(full))
    return merged(
        [Span(pair if cells(pair) <= room else cut(pair.rstrip(), room - 2) + "  ", MUTED), Span(full, STRONG)]
    )


def _step(detail: Detail, row: int, column: int, translate: Translate) -> str:
    return f"{translate(detail.name)} {exact(detail.values.at(row, column))}"


def _block(labels: tuple[str, ...], index: int, size: int, total: int) -> str:
    first, last = index * size, min((index + 1) * size, total) - 1
    name = label_of(labels, first)
    return name if first == last else f"{name}…{label_of(labels, last)}"


def number_table(panel: Heatmap, width: int) -> list[Line]:
    """Return all the numbers under their column labels, right-aligned; wide tables continue below."""
    rows, columns = panel.values.shape
    numbers = panel.values.rows()
    texts = [_written(row, panel) for row in numbers]
    left = 1 + min(LABEL_CELLS, max(cells(label_of(panel.row_labels, row)) for row in range(rows)))
    widest = max(len(text) for row in texts for text in row)
    names = [cut(label_of(panel.column_labels, column), LABEL_CELLS) for column in range(columns)]
    room = 2 + max(widest, *map(cells, names))
    at_once = max(1, (width - left) // room)
    lines: list[Line] = []
    for start in range(0, columns, at_once):
        part = slice(start, start + at_once)
        heads = "".join(pad(name, room, "right") for name in names[part])
        lines.append([Span(" " * left + heads, MUTED)])
        for row in range(rows):
            label = pad(cut(label_of(panel.row_labels, row), LABEL_CELLS), left)
            lines.append([Span(label, MUTED), Span("".join(text.rjust(room) for text in texts[row][part]))])
    return lines


def _written(row: list[float], panel: Heatmap) -> list[str]:
    """Return a row of numbers with as many digits as the scale of the panel deserves."""
    extent = max(abs(panel.minimum), abs(panel.maximum))
    whole = panel.values.dtype in ("int64", "bool")
    spec = "d" if whole else ".4f" if extent < 10 else ".3f" if extent < 100 else ".4g"
    return [formatted(value, spec) for value in row]
