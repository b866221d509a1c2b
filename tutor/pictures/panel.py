"""Any panel as lines: the one function behind the app, the shell and plain text."""

from __future__ import annotations

from rich.text import Text

from engine.contract.report import Bars, Curves, Heatmap, Note, Panel, Table
from tutor.pictures.grid import Pool
from tutor.pictures.heatmap_text import has_table, number_table
from tutor.pictures.ink import Line, Span, Translate, plain
from tutor.terminal import Depth, Terminal
from tutor.text.width import clean
from tutor.text.wrap import wrap


def panel_lines(
    panel: Panel,
    width: int,
    height: int | None,
    translate: Translate,
    terminal: Terminal,
    numbers: bool = True,
    pool: Pool = "max",
) -> list[Line]:
    """Draw a panel in at most `width` columns; heatmaps and curves also keep to `height` lines.

    `numbers` writes the values into the cells of a heatmap that has room; `pool` says what a cell of a heatmap larger
    than its place stands for.
    """
    # Each kind costs its imports only when it is drawn: the first frame of the app draws none.
    if isinstance(panel, Heatmap):
        from tutor.pictures.heatmap import draw_heatmap

        return draw_heatmap(panel, width, height, translate, terminal, numbers, pool).lines
    if isinstance(panel, Curves):
        from tutor.pictures.curves import draw_curves

        return draw_curves(panel, width, height, translate, terminal)
    if isinstance(panel, Bars):
        from tutor.pictures.bars import draw_bars

        return draw_bars(panel, width, translate, terminal)
    if isinstance(panel, Table):
        from tutor.pictures.tables import draw_table

        return draw_table(panel, width, translate, terminal)
    return note_lines(panel, width, translate)


def note_lines(panel: Note, width: int, translate: Translate) -> list[Line]:
    """Return the sentence of a note, broken into lines."""
    return [[Span(line.plain)] for line in wrap(Text(clean(translate(panel.text))), width)]


def plain_lines(panel: Panel, width: int, translate: Translate, unicode: bool = True) -> list[str]:
    """Return a panel as text without escape codes; a small heatmap as shades and, below them, its numbers."""
    terminal = Terminal(Depth.NONE, unicode)
    lines = panel_lines(panel, width, None, translate, terminal, numbers=False)
    if isinstance(panel, Heatmap) and has_table(panel):
        lines = [*lines, [], *number_table(panel, width)]
    return [plain(line) if unicode else _ascii_marks(plain(line)) for line in lines]


def _ascii_marks(line: str) -> str:
    """Return a line with our own `…` in ASCII; text of lessons and learners is left to the encoding."""
    return line.replace("…", ".")
