"""A lesson of 200 lines in Textual's own `Markdown` widget; `N` shows another lesson in its place."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

MARKER = "PAINTMARK"
LINES = 200


def lesson(number: int) -> str:
    """Return a lesson of headings and paragraphs."""
    parts = [f"# {MARKER} {number}", ""]
    for line in range(LINES - 2):
        if line % 10 == 0:
            parts.append(f"## Section {line // 10} of lesson {number}")
        elif line % 2:
            parts.append(f"Line {line}: the state **h_{line}** = `tanh(W h + U x + b)` carries *what came* before.")
        else:
            parts.append("")
    return "\n".join(parts)


class MarkdownApp(App[None]):
    """One lesson."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [("N", "next", "next")]
    number = 0

    def compose(self) -> ComposeResult:
        """Show the first lesson."""
        with VerticalScroll():
            yield Markdown(lesson(0))

    async def action_next(self) -> None:
        """Show another lesson."""
        self.number += 1
        await self.query_one(Markdown).update(lesson(self.number))


if __name__ == "__main__":
    MarkdownApp().run()
