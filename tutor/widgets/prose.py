"""A block of lesson text as cached lines: laid out once per width and language, scrolled without rendering."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tutor.start_cache import StartCache

FORMULA_WIDTH = 56


class ProseView(Widget):
    """Markdown with formulas, tables and live numbers.

    With a `cache`, the lines of a text without numbers are taken from it and kept in it: those a start shows first.
    """

    DEFAULT_CSS = "ProseView { height: auto; width: 1fr; margin-bottom: 1; }"

    def __init__(
        self,
        source: str,
        quotes: Mapping[str, str] | None = None,
        *,
        show_tex: bool = False,
        cache: StartCache | None = None,
    ) -> None:
        super().__init__()
        self._cache = cache
        self._source = source
        self._quotes = dict(quotes or {})
        self._show_tex = show_tex
        self._laid_out: dict[int, list[Text]] = {}
        self._strips: dict[int, Strip] = {}
        self._strips_width = 0

    @property
    def source(self) -> str:
        """The Markdown shown."""
        return self._source

    def show(
        self, source: str | None = None, quotes: Mapping[str, str] | None = None, show_tex: bool | None = None
    ) -> None:
        """Change the text, the live numbers or the form of the formulas; what is not given stays."""
        before = (self._source, self._quotes, self._show_tex)
        self._source = self._source if source is None else source
        self._quotes = self._quotes if quotes is None else dict(quotes)
        self._show_tex = self._show_tex if show_tex is None else show_tex
        if before != (self._source, self._quotes, self._show_tex):
            self._forget()
            self.refresh(layout=True)

    def lines(self, width: int) -> list[Text]:
        """Return the laid-out lines for `width` cells (a layout asks for two: with and without a scrollbar)."""
        if width not in self._laid_out:
            if self._cache is not None and not self._quotes and not self._show_tex:
                self._laid_out[width] = self._known_lines(self._cache, width)
            else:
                self._laid_out[width] = self._rendered(width)
        return self._laid_out[width]

    def _known_lines(self, cache: StartCache, width: int) -> list[Text]:
        from tutor.text.kept import keep_lines, recall_lines

        made_from = (self._source, width, FORMULA_WIDTH)
        lines = recall_lines(cache, *made_from)
        if lines is None:
            lines = self._rendered(width)
            keep_lines(cache, lines, *made_from)
        return lines

    def _rendered(self, width: int) -> list[Text]:
        from tutor.text.prose import render

        return render(
            self._source,
            width,
            quotes=self._quotes,
            show_tex=self._show_tex,
            formula_width=min(width, FORMULA_WIDTH),
        )

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all the width there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at `width`."""
        return len(self.lines(width)) if width > 0 else 0

    def notify_style_update(self) -> None:
        """Forget the styled lines when the theme changes."""
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """Return one line, styled and filled to the width."""
        width = self.size.width
        if width != self._strips_width:
            self._strips_width = width
            self._strips.clear()
        lines = self.lines(width) if width > 0 else []
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        if y not in self._strips:
            strip = Strip(list(lines[y].render(self.app.console))).apply_style(self.rich_style)
            self._strips[y] = strip.adjust_cell_length(width, self.rich_style)
        return self._strips[y]

    def _forget(self) -> None:
        self._laid_out.clear()
        self._strips.clear()
