"""A lesson, step by step: the text on the left and its lab on the right, or one of them where there is no room."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal

from tutor.course.model import Place, Predict, Quiz
from tutor.lesson_session import LessonSession
from tutor.screens.base import KeyBar, TooSmall, TopBar, TutorScreen, bindings_of
from tutor.screens.lab_keys import LabKeys
from tutor.widgets.step_text import StepText

if TYPE_CHECKING:
    from tutor.widgets.lab_panel import LabPanel
    from tutor.widgets.question import QuestionView


class LessonScreen(LabKeys, TutorScreen):
    """An open lesson."""

    PLACE = "lesson"
    BINDINGS: ClassVar[list[Any]] = [
        *bindings_of("lesson"),
        ("enter", "advance", ""),
        ("escape", "back", ""),
        ("s", "skip", ""),
    ]
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [  # type: ignore[misc]
        (0, "-narrow"),
        (120, "-wide"),
        (160, "-very-wide"),
    ]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        self._text: StepText
        self._both_panes = Horizontal(id="panes")
        self._panes = Lock()  # a step is shown whole before the next one takes its place
        self._shown: tuple[str, str, str] | None = None
        self._when_lab_is_there: Callable[[], None] | None = None
        self._session: LessonSession | None = None

    @property
    def session(self) -> LessonSession:
        """The state of the lesson, read when the screen first needs it."""
        if self._session is None:
            tutor = self.tutor
            self._session = LessonSession(self._place.info, tutor.catalog, tutor.store, tutor.language)
            self._remember(self._place.step or self._session.resume_at())
        return self._session

    def compose(self) -> ComposeResult:
        """Show the frame and the open step."""
        yield TooSmall()
        yield TopBar()
        self._text = StepText(self.session, self.say, self.tutor.catalog.cache, id="text")
        with self._both_panes:
            yield self._text
        yield KeyBar()

    def on_mount(self) -> None:
        """Give the text the keyboard."""
        self._text.focus()

    async def complete(self) -> None:
        """Show the rest of the step, and its lab, when its beginning is on the screen."""
        async with self._panes:
            await self._text.complete()
            await self._open_bench()
            self._note_moves()
        await self._show_step()

    def _note_moves(self) -> None:
        """Let the next step be shown when keys have moved on while this one was put together."""
        if self._text.showing is not self.session.step:
            self._shown = ("", "", "")

    async def _open_bench(self) -> None:
        """Put the step's lab beside the text, and run what the text's numbers need."""
        from tutor.screens.beside import beside

        await self._both_panes.mount(beside(self.session, self.tutor, id="bench"))
        self._shown = self._wanted
        self._run_quoted()
        action, self._when_lab_is_there = self._when_lab_is_there, None
        if action is not None:
            self.call_after_refresh(action)

    def _waits_for_lab(self, action: Callable[[], None]) -> bool:
        """Whether the step's lab is still on its way to the screen; `action` is then done when it is there."""
        waits = self.panel is None and self.session.step.lab is not None
        self._when_lab_is_there = action if waits else None
        return waits

    @property
    def _wanted(self) -> tuple[str, str, str]:
        """What the panes must show: lesson, step, language."""
        return self.session.info.id, self.session.step.id, self.tutor.language

    # -- what is shown ------------------------------------------------------------------------------------------

    def headings(self) -> list[Text]:
        """Return lesson, a dot per step, and the step's title; with less room, less of it."""
        session = self.session
        steps, index = session.lesson.steps, session.index
        dots = "".join("◐" if i == index else "●" if session.is_finished(s) else "○" for i, s in enumerate(steps))
        count, title = f"{index + 1}/{len(steps)}", (session.step.title, "bold")
        name = f" {session.info.id}"
        return [
            Text.assemble(f"{name} {session.lesson.title}  {dots}  {count}  ", title),
            Text.assemble(f"{name}  {dots}  {count}  ", title),
            Text.assemble(f"{name}  {count}  ", title),
        ]

    async def _show_step(self, *, keep_scroll: bool = False) -> None:
        """Show the session's step in both panes."""
        async with self._panes:
            if self._shown in (None, self._wanted):
                return  # it is shown, or will be when the screen is complete
            widgets = await self._text.widgets()
            while self._text.showing is not self.session.step:  # keys have moved on meanwhile
                widgets = await self._text.widgets()
            async with self.batch():
                await self._text.show_step(widgets, keep_scroll=keep_scroll)
                await self.query("#bench").remove()
                await self._open_bench()
            self._note_moves()
        self.refresh_bars()
        self.call_after_refresh(self.tutor.catalog.cache.save)

    def retranslate(self) -> None:
        """Show the same step, at the same place, in the other language."""
        self.session.translate(self.tutor.language)
        self.run_worker(self._retranslated(), group="step", exit_on_error=False)

    async def _retranslated(self) -> None:
        panel = self.panel
        kept = panel.keep() if panel is not None else None
        on_text = self._text.has_focus_within
        row = panel.form_row() if panel is not None else None
        await self._show_step(keep_scroll=True)
        if kept is not None and self.panel is not None:
            self.panel.restore(kept)
        if on_text or self.panel is None:
            self._text.focus()
        else:
            self.panel.take_keyboard(row)

    # -- moving -------------------------------------------------------------------------------------------------

    def go_to(self, place: Place) -> None:
        """Open another step, of this lesson or another."""
        if place.info.id != self.session.info.id:
            self._session = LessonSession(place.info, self.tutor.catalog, self.tutor.store, self.tutor.language)
            self._remember(place.step or self.session.resume_at())
            self._text.session = self.session
        else:
            self._remember(place.step or self.session.step.id)
        self.run_worker(self._open_step(), group="step", exit_on_error=False)

    def _remember(self, step: str) -> None:
        assert self._session is not None
        self.tutor.saving(self._session.open(step))

    async def _open_step(self) -> None:
        self.remove_class("show-lab")
        if not self._text.has_focus:  # Textual paints what gets the keyboard, even what has it
            self._text.focus()
        await self._show_step()

    def _move(self, by: int) -> bool:
        target = self.session.neighbour(by)
        if target is None:
            return False
        self.go_to(Place(self.session.info, target))
        return True

    def action_skip(self) -> None:
        """Skip the prediction that waits."""
        panel = self.panel
        if panel is not None and (question := panel.open_question()):
            self._show_lab(True)
            question.skip()

    def action_next_step(self) -> None:
        """Finish this step and go on; after the last one, back to the map."""
        if finished := self.session.finish():
            self.tutor.saving(finished)
        if not self._move(+1):
            self.tutor.action_open_map()

    def action_previous_step(self) -> None:
        """Go back one step."""
        self._move(-1)

    def action_advance(self) -> None:
        """Do the obvious next thing: read on, predict, run, look, answer, go on."""
        text, panel = self._text, self.panel
        if text.has_focus and not text.at_end:
            text.read_on()
        elif self._waits_for_lab(self.action_advance):
            return
        elif panel is not None and (question := panel.open_question()):
            self._show_lab(True)
            question.focus_answer()
        elif panel is not None and panel.report is None and not panel.running:
            panel.run_now()
            self._show_lab(True)
        elif self._lab_covers_text:
            self._back_to_text()
        elif panel is not None and self._lab_unseen:
            self._show_lab(True)
            panel.landing().focus()
        elif quiz := text.open_quiz():
            self._show_lab(False)
            quiz.focus_answer()
            quiz.scroll_visible(animate=False)
        else:
            self.action_next_step()

    def action_back(self) -> None:
        """Stop a run, or go back one level: from a question or the lab to the text, from the text to the map."""
        text, panel = self._text, self.panel
        if panel is not None and panel.cancel():
            return
        if text.has_focus and not self.has_class("show-lab"):
            self.tutor.action_open_map()
        else:
            self._show_lab(False)
            text.focus()

    @property
    def _lab_covers_text(self) -> bool:
        """Whether the lab stands where the text was, for want of room."""
        return self.has_class("-narrow") and self.has_class("show-lab")

    def _back_to_text(self) -> None:
        """Read on in the text where it pointed to the lab."""
        self._show_lab(False)
        text = self._text
        text.focus()
        for pointer in text.query(".lab-pointer"):
            self.call_after_refresh(pointer.scroll_visible, animate=False, top=True)

    @property
    def _lab_unseen(self) -> bool:
        """Whether the lab is hidden behind the text and was not looked at in this step."""
        panel = self.panel
        return bool(self.has_class("-narrow") and panel is not None and not panel.looked_at)

    def _show_lab(self, shown: bool) -> None:
        self.set_class(shown and self.panel is not None, "show-lab")
        if shown and self.panel is not None:
            self.panel.looked_at = True

    def action_switch_pane(self) -> None:
        """Give the keyboard to the other pane, showing it where there is room for one only."""
        text = self._text
        if self._waits_for_lab(self.action_switch_pane):
            return
        if self.panel is None:
            text.focus()
            return
        to_lab = text.has_focus_within
        self._show_lab(to_lab)
        (self.panel.landing() if to_lab else text).focus()

    def action_toggle_tex(self) -> None:
        """Show formulas as TeX, or as pictures again."""
        self._text.toggle_tex()

    # -- answers and results (handlers by Textual's names: importing the classes would delay the first frame) ----

    def on_question_view_answered(self, event: QuestionView.Answered) -> None:
        """Judge and keep an answer."""
        block = self.session.question(event.question.text.id)
        if isinstance(block, Quiz):
            if saved := self.session.answer(block, event.answer):
                self.tutor.saving(saved)
            event.question.show(self.session.words(block, self.say))
        elif isinstance(block, Predict) and isinstance(event.answer, str):
            if saved := self.session.predict(block, event.answer):
                self.tutor.saving(saved)
            self._prediction_made()

    def on_question_view_skipped(self, event: QuestionView.Skipped) -> None:
        """Keep that a prediction was skipped."""
        block = self.session.question(event.question.text.id)
        if isinstance(block, Predict):
            self.tutor.saving(self.session.skip(block))
            self._prediction_made()

    def on_question_view_left(self, event: QuestionView.Left) -> None:
        """Go on from a question."""
        self._text.focus()
        self.action_advance()

    def _prediction_made(self) -> None:
        """Go on to the next prediction, or to the result."""
        panel = self.panel
        if panel is None:
            return
        panel.update_questions({p.id: self.session.words(p, self.say) for p in self.session.step.predictions})
        if question := panel.open_question():
            question.focus_answer()
            return
        panel.show_own_result()
        self._text.refresh_quotes()

    def on_lab_panel_finished(self, event: LabPanel.Finished) -> None:
        """Keep a run; one with the lesson's own parameters answers predictions and fills quotes."""
        block = self.session.step.lab
        if block is None or event.panel is not self.panel:
            return
        self.tutor.record_run(event.request, event.report, self.session.info.id, self.session.step.id)
        if not event.own:
            return
        self.session.note_report(block, event.report)
        for predict in self.session.step.predictions:
            if saved := self.session.settle(predict):
                self.tutor.saving(saved)
        event.panel.update_questions({p.id: self.session.words(p, self.say) for p in self.session.step.predictions})
        event.panel.reveal()
        self._text.refresh_quotes()

    def _run_quoted(self) -> None:
        """Run the labs of other steps whose numbers this step quotes."""
        from tutor.screens.quoted import run_quoted

        run_quoted(self.tutor, self.session, self._text.refresh_quotes)

    @property
    def panel(self) -> LabPanel | None:
        """The step's lab, or None."""
        found = cast("list[LabPanel]", list(self.query("LabPanel")))
        return next((panel for panel in found if panel.is_whole), None)
