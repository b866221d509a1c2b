"""Rows of cells: matrices, cases, aligned equations."""

from __future__ import annotations

from tutor.text.formula.boxes import Box, beside, blank, stack, widen

# Cells before a column, by its alignment: conditions of cases stand further off than entries of a matrix.
GAP = {"l": 3, "c": 2, "r": 2}


def grid(rows: list[list[Box]], columns: str, *, loose: bool) -> Box:
    """Lay out cells in columns; `columns` gives their alignment and repeats; "rl" pairs stand without a gap.

    `loose` parts two rows by an empty one.
    """
    count = max(len(row) for row in rows)
    widths = [max((row[column].width for row in rows if column < len(row)), default=0) for column in range(count)]
    lines = [_line(row, widths, columns) for row in rows]
    apart = any(line.height > 1 for line in lines) or (len(lines) == 2 and loose)
    parts: list[Box] = []
    for line in lines:
        parts += [blank(line.width), line] if parts and apart else [line]
    # Around an odd number of rows the baseline is the middle, which two rows get from the empty one between them.
    height = sum(part.height for part in parts)
    return stack(parts, lines[0].base if len(lines) == 1 else (height - 1) // 2, side="l")


def _line(row: list[Box], widths: list[int], columns: str) -> Box:
    boxes: list[Box] = []
    for column, width in enumerate(widths):
        side = columns[column % len(columns)]
        if column and not (columns == "rl" and side == "l"):
            boxes.append(blank(GAP[side]))
        boxes.append(widen(row[column], width, side) if column < len(row) else blank(width))
    return beside(boxes)
