"""The steps of a lesson, shown beside a step that has no lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.widgets import Static

if TYPE_CHECKING:
    from tutor.lesson_session import LessonSession


class Outline(Static):
    """One line per step: finished, open, to come."""

    DEFAULT_CSS = "Outline { width: 1fr; height: 1fr; padding: 1 2; color: $text-muted; }"

    def __init__(self, session: LessonSession, *, id: str) -> None:
        super().__init__(id=id)
        self._session = session

    def on_mount(self) -> None:
        """Draw the steps."""
        text = Text()
        for index, step in enumerate(self._session.lesson.steps):
            here = index == self._session.index
            mark = "▸" if here else ("●" if self._session.is_finished(step) else "○")
            lab = f"   {step.lab.name}" if step.lab else ""
            text.append(f"{mark} {index + 1:>2}  {step.title}", style="bold" if here else "")
            text.append(f"{lab}\n", style="dim")
        self.update(text)
