"""A thin rule with a title in it."""

from __future__ import annotations

from rich.text import Text
from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from tutor.text.width import cells, cut


class TitledRule(Widget):
    """─ title ────── note ─: the only border there is."""

    DEFAULT_CSS = "TitledRule { height: 1; width: 1fr; color: $text-muted; }"

    title: reactive[str] = reactive("")
    note: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        """Draw the rule over the whole width."""
        width = self.size.width
        title = cut(self.title, max(0, width - 4))
        note = f" {self.note} " if self.note and cells(title) + cells(self.note) + 8 < width else ""
        line = Text("─ ", no_wrap=True, end="")
        line.append(title, style="bold")
        line.append(" " + "─" * max(0, width - cells(title) - cells(note) - 5))
        line.append(note)
        line.append("──")
        return line
