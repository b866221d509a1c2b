"""Bars of a report."""

from __future__ import annotations

from engine.contract.report import Bars
from tutor.widgets.figure_view import FigureView


class BarsView(FigureView[Bars]):
    """One bar per label."""
