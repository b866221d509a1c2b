"""A heatmap as styled lines: title in a rule, axis names, labels, the map, and a colour scale with its ends.

Where every value has a cell of its own, plotext draws the map; a larger one is drawn in half blocks, or with one shade
a cell on terminals of few colours. All of them draw the same grid of levels.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.contract.message import say
from engine.contract.report import Heatmap
from tutor.pictures import plotext_adapter
from tutor.pictures.grid import Levels, Pool, Values, levels, not_finite_levels, outside, scale_ends, shown_values
from tutor.pictures.heatmap_layout import LABEL_CELLS, Layout, label_of, plan, shown_label
from tutor.pictures.ink import MUTED, Colour, Line, Look, Span, Translate, merged, width_of
from tutor.pictures.numbers import decimals_that_fit, in_cell, not_finite, short
from tutor.pictures.palette import ABSENT, NOT_FINITE, Palette, ink_on, palette
from tutor.pictures.rule import title_rule
from tutor.terminal import Terminal
from tutor.text.width import cells, cut, pad

_RAMP = 16  # cells of the colour scale


@dataclass(frozen=True)
class Picture:
    """A drawn heatmap and what is needed to put a cursor on it."""

    panel: Heatmap
    lines: list[Line]
    layout: Layout
    values: Values
    grid: Levels
    palette: Palette
    decimals: int | None


def draw_heatmap(
    panel: Heatmap,
    width: int,
    height: int | None,
    translate: Translate,
    terminal: Terminal,
    numbers: bool = True,
    pool: Pool = "max",
) -> Picture:
    """Draw a heatmap in at most `width` columns and `height` lines (None: as many as it needs)."""
    colours = palette(panel.scale, terminal)
    rows, columns = panel.values.shape
    if rows * columns == 0:
        return _empty(panel, width, translate, terminal, colours)
    strange = not_finite_levels(panel)
    layout = _layout(panel, width, height, colours, numbers, bool(strange))
    values = shown_values(panel, layout.pool_rows, layout.pool_columns, pool)
    grid = levels(panel, colours.count, values)
    decimals = _decimals(panel, layout, colours) if numbers and not values.pooled else None
    lines = [
        title_rule(translate(panel.title), width, terminal.unicode),
        _axis_names(panel, layout, width, translate, terminal.unicode),
        _column_labels(panel, layout),
        *_map(panel, layout, values, grid, colours, decimals),
        _scale(panel, colours, width),
    ]
    note = _note(strange, values, pool, colours, width, translate)
    return Picture(panel, lines + note, layout, values, grid, colours, decimals)


def _layout(panel: Heatmap, width: int, height: int | None, colours: Palette, numbers: bool, noted: bool) -> Layout:
    """Return the layout that leaves room for the scale, and for the note if there is one."""
    room = None if height is None else height - 1 - noted
    layout = plan(panel, width, room, colours.half_blocks, numbers)
    if room is not None and not noted and layout.pool_rows * layout.pool_columns > 1:
        return plan(panel, width, room - 1, colours.half_blocks, numbers)
    return layout


def _empty(panel: Heatmap, width: int, translate: Translate, terminal: Terminal, colours: Palette) -> Picture:
    lines = [
        title_rule(translate(panel.title), width, terminal.unicode),
        [Span(cut(translate(say("no values")), width), MUTED)],
    ]
    nowhere = Layout(0, 0, 1, 1, False, 1, 1, left=0)
    return Picture(panel, lines, nowhere, Values([]), [], colours, None)


def _axis_names(panel: Heatmap, layout: Layout, width: int, translate: Translate, unicode: bool) -> Line:
    down, right = ("↓", "→") if unicode else ("v", "->")
    rows, columns = f"{translate(panel.row_axis)} {down}", f"{translate(panel.column_axis)} {right}"
    start = max(layout.left, cells(rows) + 2)
    return [Span(cut(pad(rows, start) + columns, width), MUTED)]


def _column_labels(panel: Heatmap, layout: Layout) -> Line:
    """Return the labels over the columns: cut to the cell, or positions and numeric labels at every few columns."""
    blank = " " * layout.left
    width = layout.cell_width
    if width >= 2 and layout.pool_columns == 1:
        labels = [label_of(panel.column_labels, column) for column in range(layout.columns)]
        if width >= 4 or all(cells(label) <= shown_label(width) for label in labels):
            return [Span(blank + "".join(_cut_labels(labels, width)), MUTED)]
    return [Span(blank + _ticks(panel, layout), MUTED)]


def _cut_labels(labels: list[str], width: int) -> list[str]:
    """Return labels in cells of `width`, a blank between any two of them; one may fill its cell if both sides are free.

    Cells of two columns have no room for the blank.
    """
    if width <= 2:
        return [pad(label, width) for label in labels]
    shown: list[str] = []
    for index, label in enumerate(labels):
        free_before = not shown or shown[-1].endswith(" ")
        free_after = index + 1 == len(labels) or cells(labels[index + 1]) <= width - 2
        fills = cells(label) == width and free_before and free_after
        shown.append(label if fills else pad(cut(label, width - 1), width, "center"))
    return shown


def _ticks(panel: Heatmap, layout: Layout) -> str:
    """Return numbers over the columns, as densely as they can be read."""
    last = layout.columns * layout.pool_columns
    names = [_tick(panel, column * layout.pool_columns) for column in range(layout.columns)]
    room = max(map(len, names)) + 1
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, last) if s * layout.cell_width >= room or s >= last)
    line = ""
    for column, name in enumerate(names):
        place = column * layout.cell_width
        wanted = column == 0 or (column % step == 0 if name == str(column) else (column + 1) % step == 0)
        if wanted and place >= len(line) + (column > 0) and place + len(name) <= layout.map_width:
            line = line.ljust(place) + name
    return line.ljust(layout.map_width)


def _tick(panel: Heatmap, column: int) -> str:
    """Return the label of a column if it is a number, else its position from 1."""
    label = label_of(panel.column_labels, column)
    return label if label.isascii() and label.isdigit() else str(column + 1)


def _map(
    panel: Heatmap, layout: Layout, values: Values, grid: Levels, colours: Palette, decimals: int | None
) -> list[Line]:
    if layout.halves:
        drawn = half_block_lines(grid, colours)
        return [[Span(_half_label(panel, layout, line), MUTED), *spans] for line, spans in enumerate(drawn)]
    cells_of = colour_lines(grid, colours, layout.cell_width) if layout.pool_rows == 1 else None
    lines: list[Line] = []
    for row, row_levels in enumerate(grid):
        label = Span(row_label(panel, layout, row), MUTED)
        spans = cells_of[row] if cells_of else [colours.cell(level, layout.cell_width) for level in row_levels]
        blank = [Span(" " * layout.left, MUTED), *spans]
        texted = spans if decimals is None else _with_numbers(spans, row_levels, values.numbers[row], colours, decimals)
        middle = (layout.cell_height - 1) // 2
        lines += [
            merged([label, *texted] if line == middle else blank) for line in range(layout.cell_height)
        ]  # fmt: skip
    return lines


def colour_lines(grid: Levels, colours: Palette, cell_width: int) -> list[Line]:
    """Return one span for every level of the grid, drawn by plotext and widened to the cell.

    plotext draws colours only: on terminals of few colours, and for what is not finite, the level that was read back
    from the drawing gets its character.
    """
    stand_ins: list[Colour] = [(level, 0, 0) for level in range(colours.count)]
    marks = {-1: (0, 1, 0), -2: (0, 2, 0)}
    ink: list[Colour] = stand_ins if colours.colours is None or colours.shades else list(colours.colours)
    known = {colour: level for level, colour in enumerate(ink)} | {colour: level for level, colour in marks.items()}
    drawn = plotext_adapter.colour_cells([[ink[v] if v >= 0 else marks[v] for v in row] for row in grid])
    made = {level: colours.cell(level, cell_width) for level in set(known.values())}
    return [[made[known[colour]] for colour in row] for row in drawn]


def half_block_lines(grid: Levels, colours: Palette) -> list[Line]:
    """Return the grid two rows a line: the upper half of a cell is one value, the lower half another."""
    known: dict[tuple[int, int], Span] = {}
    lines: list[Line] = []
    for top in range(0, len(grid), 2):
        above = grid[top]
        below = grid[top + 1] if top + 1 < len(grid) else [ABSENT] * len(above)
        spans = []
        for pair in zip(above, below, strict=True):
            span = known.get(pair)
            if span is None:
                span = known[pair] = colours.pair(*pair)
            spans.append(span)
        lines.append(merged(spans))
    return lines


def row_label(panel: Heatmap, layout: Layout, row: int) -> str:
    """Return the label of a shown row, padded to the map; with its position where columns show positions."""
    index = row * layout.pool_rows
    name = _tick_row(panel, index) if layout.pool_rows > 1 else label_of(panel.row_labels, index)
    number = f"{index + 1:>{layout.digits - 1}} " if layout.digits else ""
    return number + pad(cut(name, LABEL_CELLS), layout.left - layout.digits - 1) + " "


def _tick_row(panel: Heatmap, row: int) -> str:
    label = label_of(panel.row_labels, row)
    return label if label.isascii() and label.isdigit() else str(row + 1)


def _half_label(panel: Heatmap, layout: Layout, line: int) -> str:
    """Return the row number beside every fourth line of half blocks."""
    name = _tick_row(panel, 2 * line * layout.pool_rows) if line % 4 == 0 else ""
    return pad(name, layout.left - 1, "right") + " "


def _decimals(panel: Heatmap, layout: Layout, colours: Palette) -> int | None:
    """Return the decimals of the numbers inside the cells; None where the cells are too narrow."""
    if layout.halves or layout.cell_width < 5:
        return None
    return decimals_that_fit(panel.values.flat(), number_room(layout.cell_width, colours))


def number_room(cell_width: int, colours: Palette) -> int:
    """Return the characters for a number inside a cell: one blank after it, and its shade before it if it has one."""
    return cell_width - 1 - (colours.shades is not None)


def _with_numbers(spans: Line, row: list[int], numbers: list[float], colours: Palette, decimals: int) -> Line:
    """Return the cells of a row with their numbers written into them."""
    texted = []
    for span, level, number in zip(spans, row, numbers, strict=True):
        width = len(span.text)
        text = in_cell(number, decimals, number_room(width, colours)) + " "
        if level < 0:
            texted.append(Span(not_finite(number).center(width), span.look))
        elif colours.shades is None:
            ink = ink_on(span.look.background or (0, 0, 0))
            texted.append(Span(text, Look(ink, span.look.background)))
        else:
            texted += [Span(span.text[1], span.look), Span(text)]
    return texted


def _scale(panel: Heatmap, colours: Palette, width: int) -> Line:
    """Return the colour scale between its ends; an end that values exceed says so."""
    low, high = scale_ends(panel)
    under, over = outside(panel)
    less, more = ("≤ ", "≥ ") if colours.unicode else ("<= ", ">= ")
    first, last = (less if under else "") + short(low), (more if over else "") + short(high)
    room = max(1, min(_RAMP, width - len(first) - len(last) - 6))
    ramp = [colours.cell(index * colours.count // room, 1) for index in range(room)]
    left, right = (" ▕", "▏ ") if colours.unicode else (" [", "] ")
    return merged([Span(first + left, MUTED), *ramp, Span(right + last, MUTED)])


def _note(
    strange: list[int], values: Values, pool: Pool, colours: Palette, width: int, translate: Translate
) -> list[Line]:
    """Return the line under the scale: what is not finite, and what a pooled cell stands for."""
    parts: Line = []
    if strange:
        marks = " ".join(colours.mark(level) for level in strange)
        look = Look(NOT_FINITE if colours.colours else None, role="warning")
        parts += [Span(marks, look), Span(" " + cut(translate(say("not finite")), width - 6) + "  ", MUTED)]
    if values.pooled:
        what = (
            say("each cell: the mean of {rows} × {columns} values", rows=values.rows, columns=values.columns)
            if pool == "mean"
            else say("each cell: the peak of {rows} × {columns} values", rows=values.rows, columns=values.columns)
        )
        parts.append(Span(cut(translate(what), width - width_of(parts)), MUTED))
    return [parts] if parts else []
