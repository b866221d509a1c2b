"""Markdown tables, laid out by Rich in columns that never cut a word or lose a character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.text import Text

from tutor.text import styles
from tutor.text.width import Align, cells
from tutor.text.wrap import install_rich, least_width, wrap

if TYPE_CHECKING:
    from rich.console import Console

_GAP = 2
_NARROWEST = 6


def table(head: Sequence[Text], rows: Sequence[Sequence[Text]], aligns: Sequence[Align], width: int) -> list[Text]:
    """The lines of a table at most `width` cells wide; as a list of records where its words do not fit."""
    columns = list(zip(head, *rows, strict=True))
    widths = _column_widths(columns, width - _GAP * (len(columns) - 1))
    return _grid(head, rows, aligns, widths) if widths else _records(head, rows, width)


def _column_widths(columns: Sequence[Sequence[Text]], room: int) -> list[int]:
    """Natural widths, the widest column narrowed first until all fit; none when they cannot without harm."""
    widths = [max(1, *(cells(cell.plain) for cell in column)) for column in columns]
    # No word is cut, and no column becomes a stack of single ideographs.
    least = [
        max(min(width, _NARROWEST), *(least_width(cell.plain) for cell in column))
        for width, column in zip(widths, columns, strict=True)
    ]
    if sum(least) > room:
        return []
    while sum(widths) > room:
        widest = max((index for index in range(len(widths)) if widths[index] > least[index]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _grid(
    head: Sequence[Text], rows: Sequence[Sequence[Text]], aligns: Sequence[Align], widths: list[int]
) -> list[Text]:
    from rich import box
    from rich.table import Table

    install_rich()
    grid = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=True,
        header_style=styles.STRONG,
        border_style=styles.MUTED,
    )
    for title, align, width in zip(head, aligns, widths, strict=True):
        grid.add_column(title, justify=align, width=width, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    console = _console()
    options = console.options.update(width=sum(widths) + _GAP * len(widths))
    lines = []
    for segments in console.render_lines(grid, options, pad=False):
        line = Text()
        for segment in segments:
            start = len(line)
            line.append(segment.text)
            for name in segment.style.meta if segment.style else ():
                line.stylize(name, start)
        line.rstrip()
        lines.append(line)
    return lines


@lru_cache(maxsize=1)
def _console() -> Console:
    """A console whose styles carry nothing but their names, so that a rendered table still has them."""
    import io

    from rich.console import Console
    from rich.style import Style
    from rich.theme import Theme

    theme = Theme({name: Style(meta={name: True}) for name in styles.STYLES}, inherit=True)
    return Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", theme=theme, width=80)


def _records(head: Sequence[Text], rows: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """One block a row, `title: cell` a line, for tables whose columns find no room."""
    lines: list[Text] = []
    for row in rows:
        for index, (title, cell) in enumerate(zip(head, row, strict=True)):
            entry = Text()
            entry.append_text(title)
            entry.stylize(styles.MUTED)
            entry.append("  " if title.plain else "")
            entry.append_text(cell)
            for part, line in enumerate(wrap(entry, width - 2)):
                lead = Text("  " if index or part else "")
                lines.append(lead.append_text(line))
    return lines
