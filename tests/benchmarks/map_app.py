"""Our heatmap over the whole window, like an enlarged figure; `N` shows another map, the arrows move the cursor."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from textual.app import App, ComposeResult

from tests.benchmarks.maps import COUNT, matrices, panel
from tutor import painter
from tutor.widgets.heatmap import HeatmapView


class MapApp(App[None]):
    """One map."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [("N", "next", "next")]
    panels = tuple(panel(matrix) for matrix in matrices(int(sys.argv[1])))
    number = 0

    def compose(self) -> ComposeResult:
        """Show the first map."""
        yield HeatmapView(self.panels[0])

    def on_mount(self) -> None:
        """Write only what changes, as the tutor does."""
        painter.install(self)
        shown = self.query_one(HeatmapView)
        shown.focus()
        self.screen.maximize(shown, container=False)

    def action_next(self) -> None:
        """Show another map."""
        self.number += 1
        self.query_one(HeatmapView).set_panel(self.panels[self.number % COUNT])


if __name__ == "__main__":
    MapApp().run()
