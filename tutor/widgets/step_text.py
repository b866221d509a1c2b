"""The text of a step: prose, quiz items and exercises in one scroll. Predictions and labs live in the lab's pane."""

from __future__ import annotations

from collections.abc import Callable

from textual.containers import VerticalScroll
from textual.widget import Widget

from engine.contract.message import say
from tutor.course.model import Exercise, LabBlock, Prose, Quiz
from tutor.course.quotes import fill_quotes
from tutor.lesson_session import LessonSession
from tutor.questions import Translate
from tutor.widgets.prose import ProseView
from tutor.widgets.question import QuestionView


class StepText(VerticalScroll):
    """Shows one step; the next one takes its place."""

    DEFAULT_CSS = """
    StepText { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    StepText > .step-title { text-style: bold; }
    """

    def __init__(self, session: LessonSession, tr: Translate, *, id: str) -> None:
        super().__init__(id=id)
        self._later: list[Widget] = []
        self.session = session
        self.tr = tr
        self.show_tex = False

    def on_mount(self) -> None:
        """Show the beginning of the open step; `complete` adds the rest when that is on the screen."""
        first, *self._later = self._widgets()
        self.mount(first)

    async def complete(self) -> None:
        """Show the rest of the step."""
        later, self._later = self._later, []
        await self.mount_all(later)

    async def show_step(self, *, keep_scroll: bool = False) -> None:
        """Show the session's step in place of what is shown."""
        top = self.scroll_offset.y
        async with self.batch():
            await self.remove_children()
            await self.mount_all(self._widgets())
        self.scroll_to(y=top if keep_scroll else 0, animate=False)

    def _widgets(self) -> list[Widget]:
        widgets: list[Widget] = []
        for block in self.session.step.blocks:
            if isinstance(block, Prose):
                quotes = fill_quotes(block.source, self.session.quotable())
                widgets.append(ProseView(block.source, quotes, show_tex=self.show_tex))
            elif isinstance(block, Quiz):
                widgets.append(QuestionView(self.session.words(block, self.tr), self.session.state(block.id)))
            elif isinstance(block, Exercise):
                widgets.append(ProseView(exercise_markdown(block, self.tr), show_tex=self.show_tex))
            elif isinstance(block, LabBlock):
                pointer = ProseView(self.tr(say("▸ Lab {name}: tab shows it", name=f"`{block.name}`")))
                pointer.add_class("lab-pointer")
                widgets.append(pointer)
        return widgets

    def refresh_quotes(self) -> None:
        """Put the numbers that are known now into the prose."""
        quotable = self.session.quotable()
        for view in self.query(ProseView):
            view.show(quotes=fill_quotes(view.source, quotable))

    def toggle_tex(self) -> None:
        """Show formulas as TeX source, or as pictures again."""
        self.show_tex = not self.show_tex
        for view in self.query(ProseView):
            view.show(show_tex=self.show_tex)

    def open_quiz(self) -> QuestionView | None:
        """Return the first quiz item that is not answered, or None."""
        return next((view for view in self.query(QuestionView) if view.state.stage != "done"), None)

    @property
    def at_end(self) -> bool:
        """Whether the end of the step is in view."""
        return self.scroll_offset.y >= self.max_scroll_y

    def read_on(self) -> None:
        """Show the next screenful, at once: keys that come quickly must find it there."""
        self.scroll_to(y=self.scroll_y + self.scrollable_content_region.height, animate=False, immediate=True)


def exercise_markdown(exercise: Exercise, tr: Callable[..., str]) -> str:
    """Return an exercise as Markdown: id, signature and statement."""
    head = tr(say("Exercise {id}", id=exercise.id))
    return f"**{head}**\n\n`{exercise.signature}`\n\n{exercise.statement}"
