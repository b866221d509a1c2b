"""The text of a step: prose, quiz items and exercises in one scroll. Predictions and labs live in the lab's pane."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from textual.containers import VerticalScroll
from textual.widget import Widget

from engine.contract.message import say
from tutor.course.model import Block, Exercise, LabBlock, Prose, Quiz, Step
from tutor.course.quotes import fill_quotes
from tutor.widgets.prose import ProseView

if TYPE_CHECKING:
    from tutor.lesson_session import LessonSession
    from tutor.questions import Translate
    from tutor.start_cache import StartCache
    from tutor.widgets.question import QuestionView


class StepText(VerticalScroll):
    """Shows one step; the next one takes its place."""

    DEFAULT_CSS = """
    StepText { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    StepText > .step-title { text-style: bold; }
    """

    def __init__(self, session: LessonSession, tr: Translate, cache: StartCache, *, id: str) -> None:
        super().__init__(id=id)
        self._later: Iterator[Widget] = iter(())
        self.session = session
        self.tr = tr
        self.cache = cache
        self.show_tex = False
        self.showing: Step | None = None

    def on_mount(self) -> None:
        """Show the beginning of the open step; `complete` adds the rest when that is on the screen."""
        self._later = self._widgets()
        for first in self._later:
            self.mount(first)
            break

    async def complete(self) -> None:
        """Show the rest of the step."""
        later, self._later = self._later, iter(())
        for widget in later:
            await self._lay_out(widget)
            await self.mount(widget)

    async def widgets(self) -> list[Widget]:
        """Return the session's step as widgets that are ready to be shown."""
        self._later = iter(())
        widgets = list(self._widgets())
        for widget in widgets:
            await self._lay_out(widget)
        return widgets

    async def show_step(self, widgets: list[Widget], *, keep_scroll: bool = False) -> None:
        """Show a step in place of what is shown."""
        top = self.scroll_offset.y
        async with self.batch():
            await self.remove_children()
            await self.mount_all(widgets)
        self.scroll_to(y=top if keep_scroll else 0, animate=False)

    async def _lay_out(self, widget: Widget) -> None:
        """Break prose into lines in a thread: formulas take their time, and keys are to be heard meanwhile."""
        if isinstance(widget, ProseView) and (width := self.scrollable_content_region.width):
            await to_thread(widget.lines, width)

    def _widgets(self) -> Iterator[Widget]:
        """Make the widgets of the step's blocks, each when it is asked for; the first lines are the start cache's."""
        cache: StartCache | None = self.cache
        self.showing = self.session.step
        for block in self.session.step.blocks:
            if (widget := self._widget(block, cache)) is not None:
                yield widget
                cache = None

    def _widget(self, block: Block, cache: StartCache | None) -> Widget | None:
        if isinstance(block, Prose):
            quotes = fill_quotes(block.source, self.session.quotable())
            return ProseView(block.source, quotes, show_tex=self.show_tex, cache=cache)
        if isinstance(block, Quiz):
            from tutor.widgets.question import QuestionView

            return QuestionView(self.session.words(block, self.tr), self.session.state(block.id))
        if isinstance(block, Exercise):
            return ProseView(exercise_markdown(block, self.tr), show_tex=self.show_tex, cache=cache)
        if isinstance(block, LabBlock):
            pointer = ProseView(self.tr(say("▸ Lab {name}: tab shows it", name=f"`{block.name}`")))
            pointer.add_class("lab-pointer")
            return pointer
        return None

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
        views = cast("list[QuestionView]", list(self.query("QuestionView")))
        return next((view for view in views if view.state.stage != "done"), None)

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
