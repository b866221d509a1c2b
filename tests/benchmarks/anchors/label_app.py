"""The smallest Textual app: one label, and `k` counts up. Its start, its keys and its idling are what Textual costs."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.widgets import Label

MARKER = "PAINTMARK"


class LabelApp(App[None]):
    """One label that shows a number."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [("k", "count", "count")]
    count = 0

    def compose(self) -> ComposeResult:
        """Show the label."""
        yield Label(f"{MARKER} {self.count:05}")

    def action_count(self) -> None:
        """Show the next number."""
        self.count += 1
        self.query_one(Label).update(f"{MARKER} {self.count:05}")


if __name__ == "__main__":
    LabelApp().run()
