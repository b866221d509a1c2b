"""Figures: the right widget for a panel, and a grid that shows the panels of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from engine.contract.report import Bars, Curves, Heatmap, Panel, Table
from tutor.pictures.heatmap_layout import gutter
from tutor.terminal import Terminal
from tutor.widgets.bars import BarsView
from tutor.widgets.curves import CurvesView
from tutor.widgets.figure_view import FigureView
from tutor.widgets.heatmap import HeatmapView
from tutor.widgets.note import NoteView
from tutor.widgets.table import TableView

_GAP = 2
_NARROWEST = 24  # columns of a figure beside another
_FEW = 12  # columns of a map, each of which gets room for a short label


def figure(panel: Panel, language: str = "en", terminal: Terminal | None = None) -> FigureView[Any]:
    """Return the widget for a panel."""
    if isinstance(panel, Heatmap):
        return HeatmapView(panel, language, terminal)
    if isinstance(panel, Curves):
        return CurvesView(panel, language, terminal)
    if isinstance(panel, Bars):
        return BarsView(panel, language, terminal)
    if isinstance(panel, Table):
        return TableView(panel, language, terminal)
    return NoteView(panel, language, terminal)


def least_width(panel: Panel) -> int:
    """Return the columns a panel needs to be worth showing beside others: room for short labels where they are few."""
    if not isinstance(panel, Heatmap):
        return 40
    columns = panel.values.shape[1]
    return max(_NARROWEST, gutter(panel, 80) + (4 if columns <= _FEW else 2) * columns)


class FigureRow(Container):
    """The figures of one group: as many beside each other as the width allows, the lines equally full."""

    DEFAULT_CSS = f"""
    FigureRow {{ layout: grid; grid-size: 1; grid-rows: auto; grid-gutter: 1 {_GAP}; height: auto; width: 1fr; }}
    """

    def __init__(self, figures: Sequence[FigureView[Any]]) -> None:
        super().__init__(*figures)
        self.figures = figures

    def on_mount(self) -> None:
        """Arrange the figures."""
        self.fill_lines()

    def on_resize(self) -> None:
        """Arrange the figures for the new width."""
        self.fill_lines()

    def fill_lines(self) -> None:
        """Set the number of figures in a line."""
        count = len(self.figures)
        needed = max(least_width(view.panel) for view in self.figures) + _GAP
        at_most = max(1, (self.size.width + _GAP) // needed)
        lines = math.ceil(count / at_most)
        self.styles.grid_size_columns = math.ceil(count / lines)


class FigureGrid(Container):
    """The figures of a report, one below the other; those of one group stand side by side where the width allows.

    Arrows go from one figure to the next, a digit goes to the figure of that number, `f` enlarges one and puts it
    back. The cursors of heatmaps of one group move together.
    """

    DEFAULT_CSS = """
    FigureGrid { layout: vertical; height: auto; width: 1fr; }
    FigureGrid > * { margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"choose({number})", show=False) for number in range(1, 10)),
        Binding("f", "enlarge", show=False),
        Binding("escape", "restore", show=False),
    ]

    def __init__(self, panels: Sequence[Panel] = (), language: str = "en", terminal: Terminal | None = None) -> None:
        super().__init__()
        self.terminal = terminal
        self.language = language
        self.figures: list[FigureView[Any]] = [figure(panel, language, terminal) for panel in panels]

    def compose(self) -> Iterable[Widget]:
        """Show the figures."""
        return self._rows()

    def _rows(self) -> list[Widget]:
        """Return a row for every run of figures of one group, and the other figures as they are."""
        rows: list[Widget] = []
        for group, views in groupby(self.figures, key=lambda view: str(view.panel.group)):
            run = list(views)
            rows += [FigureRow(run)] if group else run
        return rows

    def show(self, panels: Sequence[Panel], language: str | None = None) -> None:
        """Show other panels: in place where they are of the same kinds and groups, else in new widgets."""
        self.language = language or self.language
        shown = [(type(view.panel), view.panel.group) for view in self.figures]
        if [(type(panel), panel.group) for panel in panels] != shown:
            self._replace(panels)
            return
        for view, panel in zip(self.figures, panels, strict=True):
            view.language = self.language
            view.set_panel(panel)
        for row in self.query(FigureRow):
            row.fill_lines()

    def _replace(self, panels: Sequence[Panel]) -> None:
        focused = any(view.has_focus for view in self.figures)
        if self.screen.maximized in self.figures:
            self.screen.minimize()
        self.remove_children()
        self.figures = [figure(panel, self.language, self.terminal) for panel in panels]
        self.mount_all(self._rows())
        if focused and (first := next(iter(self._choices()), None)):
            self.call_after_refresh(first.focus)

    def set_language(self, language: str) -> None:
        """Draw all figures in another language."""
        self.language = language
        for view in self.figures:
            view.language = language

    # -- going about --------------------------------------------------------------------------------------------

    def _choices(self) -> list[FigureView[Any]]:
        return [view for view in self.figures if view.can_focus]

    @on(FigureView.EdgeCrossed)
    def _cross(self, event: FigureView.EdgeCrossed) -> None:
        event.stop()
        choices = self._choices()
        if self.screen.maximized is None and event.view in choices:
            place = choices.index(event.view) + event.direction
            if 0 <= place < len(choices):
                choices[place].focus()

    @on(HeatmapView.CursorMoved)
    def _move_together(self, event: HeatmapView.CursorMoved) -> None:
        moved = event.view
        for view in self.figures:
            if view is not moved and isinstance(view, HeatmapView) and moved.panel.group == view.panel.group != "":
                view.cursor = moved.cursor if view.panel.values.shape == moved.panel.values.shape else None

    def action_choose(self, number: int) -> None:
        """Go to a figure by its number."""
        choices = self._choices()
        if number <= len(choices):
            choices[number - 1].focus()

    def action_enlarge(self) -> None:
        """Give the focused figure the whole screen, or put it back."""
        chosen = next((view for view in self.figures if view.has_focus), None)
        if self.screen.maximized is not None:
            self.screen.minimize()
        elif chosen is not None:
            self.screen.maximize(chosen, container=False)

    def action_restore(self) -> None:
        """Put the enlarged figure back."""
        self.screen.minimize()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape is ours only while a figure is enlarged."""
        return self.screen.maximized is not None if action == "restore" else True
