"""A bare app around figures, for their tests."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from engine.contract.report import Heatmap, Panel
from tests.unit.pictures_samples import ENGLISH, attention, heatmap
from tutor.terminal import Terminal
from tutor.widgets.figure import FigureGrid
from tutor.widgets.heatmap import HeatmapView


class FigureApp(App[None]):
    """Figures in a page that scrolls; remembers where cursors went."""

    def __init__(self, panels: Sequence[Panel], terminal: Terminal | None = None, language: str = "en") -> None:
        super().__init__()
        self.grid = FigureGrid(panels, language, terminal or Terminal())
        self.moves: list[tuple[int, int, float]] = []

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield self.grid

    def on_heatmap_view_cursor_moved(self, event: HeatmapView.CursorMoved) -> None:
        self.moves.append((event.row, event.column, event.value))

    @property
    def maps(self) -> list[HeatmapView]:
        return [view for view in self.grid.figures if isinstance(view, HeatmapView)]

    def frame(self) -> list[str]:
        """The screen as text."""
        return [strip.text.rstrip() for strip in self.screen._compositor.render_strips()]


def heads(count: int, labels: Sequence[str] = ENGLISH) -> list[Heatmap]:
    return [heatmap(attention(len(labels), seed=n), labels, id=f"head {n}", group="heads") for n in range(count)]
