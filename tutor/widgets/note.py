"""A sentence of a report."""

from __future__ import annotations

from engine.contract.report import Note
from tutor.widgets.figure_view import FigureView


class NoteView(FigureView[Note], can_focus=False):
    """A sentence about the result; the keyboard passes over it."""
