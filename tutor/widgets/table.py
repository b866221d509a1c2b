"""A table of a report."""

from __future__ import annotations

from engine.contract.report import Table
from tutor.widgets.figure_view import FigureView


class TableView(FigureView[Table]):
    """Rows and columns; text columns give way first."""
