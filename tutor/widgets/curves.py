"""Curves of a report, also while a run is still adding to them."""

from __future__ import annotations

import time

from textual.timer import Timer

from engine.contract.report import Curves
from tutor.terminal import Terminal
from tutor.widgets.figure_view import FigureView

REDRAW_SECONDS = 0.25
"""A plotext figure takes tens of milliseconds: live curves are drawn at most four times a second."""


class CurvesView(FigureView[Curves]):
    """Curves over a common x; the newest data are drawn within a quarter of a second."""

    def __init__(self, panel: Curves, language: str = "en", terminal: Terminal | None = None) -> None:
        super().__init__(panel, language, terminal)
        self._waiting: Curves | None = None
        self._timer: Timer | None = None
        self._last = float("-inf")

    def set_panel(self, panel: Curves) -> None:
        """Show newer curves, now or when the last drawing is a quarter of a second old."""
        rest = self._last + REDRAW_SECONDS - time.monotonic()
        if rest <= 0 or not self.is_mounted:
            self._last = time.monotonic()
            self._waiting = None
            super().set_panel(panel)
            return
        if self._waiting is None:
            self._timer = self.set_timer(rest, self._show_waiting)
        self._waiting = panel

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            self._last = float("-inf")
            self.set_panel(self._waiting)
