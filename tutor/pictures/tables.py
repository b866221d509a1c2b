"""Tables as styled lines, laid out by Rich: numbers right-aligned and never cut, text columns give way."""

from __future__ import annotations

from io import StringIO
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from engine.contract.message import Message, say
from engine.contract.report import Cell, Table
from tutor.pictures.ink import MUTED, STRONG, Line, Look, Span, Translate, merged
from tutor.pictures.numbers import formatted
from tutor.pictures.rule import title_rule
from tutor.terminal import Terminal
from tutor.text.width import cells, clean, cut
from tutor.text.wrap import install_rich, least_width

_HEADER = Style(dim=True)
_GAP = 2  # cells between columns
_NARROW_TEXT = 8  # a text column is not made narrower than this


def draw_table(panel: Table, width: int, translate: Translate, terminal: Terminal) -> list[Line]:
    """Draw a table in at most `width` columns.

    Where even narrow text columns do not make it fit, the columns go into several tables one below the other, each
    with the first column.
    """
    install_rich()
    head = [title_rule(translate(panel.title), width, terminal.unicode)]
    if not panel.rows:
        return [*head, [Span(cut(translate(say("no rows")), width), MUTED)]]
    titles = [clean(translate(column.title)) for column in panel.columns]
    texts = [
        [_written(cell, column.format, translate, terminal) for cell, column in zip(row, panel.columns, strict=True)]
        for row in panel.rows
    ]
    numeric = [all(_is_number(row[index]) for row in panel.rows) for index in range(len(titles))]
    needs = [_need(index, titles, texts, numeric) for index in range(len(titles))]
    lines: list[Line] = head
    for number, block in enumerate(_blocks(needs, width)):
        lines += [[Span(" ")]] if number else []
        lines += _block_lines(block, titles, texts, numeric, width, terminal)
    return lines


def _written(cell: Cell, spec: str, translate: Translate, terminal: Terminal) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Message):
        return clean(translate(cell))
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, bool):
        return ("✓" if cell else "✗") if terminal.unicode else translate(say("yes") if cell else say("no"))
    return formatted(cell, spec)


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _need(index: int, titles: list[str], texts: list[list[str]], numeric: list[bool]) -> int:
    """Return the cells a column cannot do without."""
    widest = max(cells(row[index]) for row in texts)
    if numeric[index]:
        return max(widest, min(cells(titles[index]), least_width(titles[index]), _NARROW_TEXT))
    return min(max(widest, cells(titles[index])), _NARROW_TEXT)


def _blocks(needs: list[int], width: int) -> list[list[int]]:
    """Return which columns stand beside each other; every table after the first repeats column 0."""
    blocks: list[list[int]] = [[0]]
    used = needs[0]
    for index in range(1, len(needs)):
        if used + _GAP + needs[index] > width and len(blocks[-1]) > (len(blocks) > 1):
            blocks.append([0])
            used = needs[0]
        blocks[-1].append(index)
        used += _GAP + needs[index]
    return blocks


def _block_lines(
    block: list[int], titles: list[str], texts: list[list[str]], numeric: list[bool], width: int, terminal: Terminal
) -> list[Line]:
    natural = [max(cells(titles[index]), *(cells(row[index]) for row in texts)) for index in block]
    least = [_need(index, titles, texts, numeric) for index in block]
    table = RichTable(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0), header_style=_HEADER
    )
    for index, room in zip(block, _shrunk(natural, least, width - _GAP * (len(block) - 1)), strict=True):
        justify: Literal["right", "left"] = "right" if numeric[index] else "left"
        table.add_column(Text(titles[index]), justify=justify, overflow="fold", width=room)
    for row in texts:
        table.add_row(*(Text(row[index]) for index in block))
    return _lines_of(table, width, terminal)


def _shrunk(natural: list[int], least: list[int], room: int) -> list[int]:
    """Return column widths whose sum fits the room: the widest column that can still give way gives way first."""
    widths = list(natural)
    while sum(widths) > room:
        giving = [index for index, width in enumerate(widths) if width > least[index]]
        if not giving:
            break
        widths[max(giving, key=lambda index: widths[index])] -= 1
    return widths


def _lines_of(table: RichTable, width: int, terminal: Terminal) -> list[Line]:
    console = Console(file=StringIO(), width=width, color_system=None, legacy_windows=False)
    lines = []
    for row in console.render_lines(table, console.options, pad=False):
        spans = [Span(_frame(text, terminal), _look(style)) for text, style, control in row if not control]
        lines.append(merged(spans))
    return lines


def _frame(text: str, terminal: Terminal) -> str:
    return text if terminal.unicode else text.replace("─", "-")


def _look(style: Style | None) -> Look:
    if style is None:
        return Look()
    return STRONG if style.bold else MUTED if style.dim else Look()
