"""A heatmap as textual-plotext shows it: `matrix_plot` with axes, built at every repaint, through `Text.from_ansi`.

`N` shows another matrix of the same size. textual-plotext itself is no dependency of ours: these are its steps.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import plotext
from rich.text import Text
from textual.app import App, ComposeResult
from textual.widget import Widget

from tests.benchmarks.maps import COUNT, LABELS, MARKER, matrices


class PlotextMap(Widget):
    """Builds its plot whenever Textual asks what it looks like."""

    DEFAULT_CSS = "PlotextMap { width: 1fr; height: 1fr; }"

    def __init__(self, size: int) -> None:
        super().__init__()
        self.number = 0
        self.side = size
        self.matrices = matrices(size)

    def render(self) -> Text:
        """Return the plot of the present matrix."""
        plotext.clear_figure()
        plotext.plotsize(self.size.width, self.size.height)
        plotext.title(f"{MARKER} {self.number}")
        plotext.matrix_plot(self.matrices[self.number % COUNT])
        if self.side <= len(LABELS):
            ticks = list(range(1, self.side + 1))
            plotext.xticks(ticks, LABELS[: self.side])
            plotext.yticks(ticks, LABELS[: self.side][::-1])
        return Text.from_ansi(plotext.build())


class PlotextApp(App[None]):
    """One map over the whole window."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [("N", "next", "next")]

    def compose(self) -> ComposeResult:
        """Show the first map."""
        yield PlotextMap(int(sys.argv[1]))

    def action_next(self) -> None:
        """Show another map."""
        shown = self.query_one(PlotextMap)
        shown.number += 1
        shown.refresh()


if __name__ == "__main__":
    PlotextApp().run()
