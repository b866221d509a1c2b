"""A lab: its parameters, the prediction asked before its first result, and its figures, in one panel.

The panel asks the app's queue for runs and shows what comes back. Until a prediction is answered or skipped the result
is withheld. The old figures stay, dimmed, until the new ones are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message as Event
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from engine.contract.declarations import Lab
from engine.contract.labs import declaration
from engine.contract.message import Message, say
from engine.contract.parameters import to_plain
from engine.contract.protocol import Failed
from engine.contract.report import Partial, Progress, Report
from tutor.questions import QuestionState, QuestionText
from tutor.runs import Request
from tutor.widgets.parameter_form import ParameterForm
from tutor.widgets.question import QuestionView
from tutor.widgets.report_text import after_figures, described
from tutor.widgets.rule import TitledRule

if TYPE_CHECKING:
    from tutor.app import TutorApp

QUICK_SECONDS = 0.3
QUIET_SECONDS = 0.15


@dataclass(frozen=True)
class LabSetup:
    """What a panel starts from: the lab, the values given by the lesson (or the bench), and what is asked first."""

    lab: str
    values: dict[str, Any]
    seed: int = 0
    notice: str = ""
    questions: tuple[tuple[QuestionText, QuestionState], ...] = ()


class LabPanel(Vertical):
    """One lab at work."""

    DEFAULT_CSS = """
    LabPanel { width: 1fr; height: 1fr; padding: 0 1; }
    LabPanel:focus-within > TitledRule { color: $accent; }
    LabPanel > QuestionView { margin: 1 0 0 0; max-height: 60%; overflow-y: auto; }
    LabPanel > #lab-status { height: auto; width: 1fr; color: $text-muted; }
    LabPanel > #lab-status.failed { color: $error; }
    LabPanel > #results { height: 1fr; width: 1fr; scrollbar-size-vertical: 1; }
    LabPanel > #results.stale { opacity: 50%; }
    LabPanel #after { height: auto; width: 1fr; color: $text-muted; margin-top: 1; }
    """

    @dataclass
    class Finished(Event):
        """A run of this panel is done; `own` tells whether it had the parameters the panel started from."""

        panel: LabPanel
        request: Request
        report: Report
        own: bool

    def __init__(self, setup: LabSetup) -> None:
        super().__init__()
        self.setup = setup
        self.lab: Lab = declaration(setup.lab)
        self.report: Report | None = None
        self.running = False
        self.form = ParameterForm(self.lab.parameters, setup.values, setup.seed)
        self._rule = TitledRule()
        self._status_line = Static(id="lab-status")
        self._results = VerticalScroll(id="results", can_focus=False)
        self._after_figures = Static(id="after")
        self._request: Request | None = None
        self._own_key: str | None = None  # of the run with the values the panel started from
        self._initial: dict[str, Any] = {}
        self._timer: Timer | None = None
        self._status: Message | None = None
        self.looked_at = False
        self._lands_when_shown = False

    def compose(self) -> ComposeResult:
        """Show the title, the parameters, what is asked first, and room for the figures."""
        yield self._rule
        yield self.form
        for text, state in self.setup.questions:
            yield QuestionView(text, state)
        yield self._status_line
        with self._results:
            yield self._after_figures

    def on_mount(self) -> None:
        """Run at once where nothing is asked first."""
        self._after_figures.display = False
        self._initial = dict(self.form.values)
        request = self._made_request()
        self._own_key = request.key if request is not None else ""
        self.draw_title()
        if not self.withheld:
            self.run_now()
        self.draw_status()

    @property
    def tutor(self) -> TutorApp:
        """The app, as what it is."""
        return cast("TutorApp", self.app)

    @property
    def is_whole(self) -> bool:
        """Whether the panel is on the screen with all its parts (and not on its way in or out)."""
        return self.is_attached and self._own_key is not None

    @property
    def withheld(self) -> bool:
        """Whether a prediction still waits."""
        return any(state.stage not in ("waiting", "done") for _, state in self.setup.questions)

    def update_questions(self, texts: Mapping[str, QuestionText]) -> None:
        """Show the predictions in these words, by id."""
        for view in self.query(QuestionView):
            if view.text.id in texts:
                view.show(texts[view.text.id])
        self.draw_status()

    def landing(self) -> Widget:
        """Return what takes the keyboard when the panel gets it: a waiting prediction, a figure, or the form."""
        if question := self.open_question():
            return question.answer_field
        figures = [widget for widget in self.query("#results *") if widget.focusable]
        return figures[0] if figures else self.form.rows

    def keep(self) -> dict[str, Any]:
        """Return what the learner has changed, for a panel of the same lab in another language."""
        initial = self._initial
        return {name: value for name, value in self.form.values.items() if value != initial.get(name)}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Take over what was kept and run it."""
        if kept:
            self.form.set_values(dict(kept))
            if not self.withheld:
                self.run_now()

    def show_own_result(self) -> None:
        """Run with the parameters the panel started from, once no prediction waits; the figure takes the keyboard."""
        self._lands_when_shown = True
        if self.report is None or self._request is None or self._request.key != self._own_key:
            self.run_now()
        else:
            self.reveal()

    def open_question(self) -> QuestionView | None:
        """Return the first prediction that still waits, or None."""
        return next((view for view in self.query(QuestionView) if view.state.stage in ("open", "sure")), None)

    # -- running ------------------------------------------------------------------------------------------------

    def _made_request(self) -> Request | None:
        params = self.form.params()
        if params is None:
            return None
        return Request(self.setup.lab, to_plain(params), self.form.seed, self.tutor.opening.device, self.tutor.language)

    def run_now(self) -> None:
        """Ask for a run with the parameters in the form."""
        request = self._made_request()
        if request is None:
            return
        self._stop_timer()
        self._request = request
        self.running = True
        self._results.set_class(self.report is not None, "stale")
        self._say(say("running …"))
        self.tutor.runs.ask(request, self)

    def cancel(self) -> bool:
        """Stop the run in progress; return whether there was one."""
        return self.running and self.tutor.runs.cancel(self)

    def on_unmount(self) -> None:
        """Nobody waits for the run any more."""
        self._stop_timer()
        self.tutor.runs.withdraw(self)

    @on(ParameterForm.Changed)
    def _parameters_changed(self, event: ParameterForm.Changed) -> None:
        event.stop()
        if self.withheld:
            return
        self._stop_timer()
        cost = self.lab.estimate(event.params)
        if cost.seconds < QUICK_SECONDS:
            self._timer = self.set_timer(QUIET_SECONDS, self.run_now)
        else:
            self._results.set_class(self.report is not None, "stale")
            self._say(say("Enter runs this: about {seconds:.0f} s.", seconds=max(1.0, cost.seconds)))

    @on(ParameterForm.Entered)
    def _run_entered(self, event: ParameterForm.Entered) -> None:
        event.stop()
        if not self.withheld:
            self.run_now()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    # -- what the run says --------------------------------------------------------------------------------------

    def run_started(self, device: str) -> None:
        """Note where the run runs."""
        self.tutor.ran_on = device

    def run_progressed(self, progress: Progress) -> None:
        """Show how far the run has come."""
        left = progress.seconds_left
        if left is None:
            self._say(say("{percent:.0%}  {text}", percent=progress.fraction, text=progress.text))
        else:
            self._say(
                say(
                    "{percent:.0%}  {text}  about {left:.0f} s left; escape stops it",
                    percent=progress.fraction,
                    text=progress.text,
                    left=left,
                )
            )

    def run_partial(self, partial: Partial) -> None:
        """Show the panels there are."""
        if not self.withheld:
            self.show_panels(partial.panels)

    def run_finished(self, report: Report) -> None:
        """Show the report, and tell the screen."""
        request = self._request
        self.running = False
        self.report = report
        self._say(None)
        if request is not None:
            self.post_message(self.Finished(self, request, report, own=request.key == self._own_key))
        if not self.withheld:
            self.reveal()

    def run_failed(self, failure: Failed) -> None:
        """Say in one sentence why there is no report; the old one stays."""
        self.running = False
        self._say(failure.message, failed=failure.code != "cancelled")
        self._results.set_class(False, "stale")

    # -- drawing ------------------------------------------------------------------------------------------------

    def reveal(self) -> None:
        """Show the report that there is."""
        self._results.set_class(False, "stale")
        if self.report is None:
            return
        self.show_panels(self.report.panels)
        self._after_figures.display = True
        notice = self.setup.notice or self.tutor.tr(self.lab.notice)
        self._after_figures.update(after_figures(self.report, notice, self.tutor.tr))
        if self._lands_when_shown:
            self._lands_when_shown = False
            self.call_after_refresh(self._land)

    def form_row(self) -> int | None:
        """Return the row of the form that has the keyboard, or None when something else has it."""
        return self.form.cursor if self.form.rows.has_focus else None

    def take_keyboard(self, form_row: int | None = None) -> None:
        """Give the keyboard to a row of the form, or to the question or figure there is, or once it comes."""
        if form_row is not None:
            self.form.cursor = form_row
            self.form.rows.focus()
        elif self.open_question() or self.query("#results FigureView"):
            self.landing().focus()
        else:
            self._lands_when_shown = True

    def _land(self) -> None:
        self.landing().focus()

    def show_panels(self, panels: Sequence[Any]) -> None:
        """Draw the panels of a report in place of the present ones."""
        from tutor.widgets.figure import FigureGrid

        grids = self.query(FigureGrid)
        if grids:
            grids.first(FigureGrid).show(panels, self.tutor.language)
        else:
            self._results.mount(FigureGrid(panels, self.tutor.language), before=0)

    def _say(self, message: Message | None, *, failed: bool = False) -> None:
        self._status = message
        self._status_line.set_class(failed, "failed")
        self.draw_status()

    def draw_status(self) -> None:
        """Draw the status line under the parameters."""
        status = self._status_line
        message = self._status
        if message is None and self.withheld:
            message = say("The figure appears here once you have predicted (s skips).")
        status.display = message is not None
        if message is not None:
            status.update(self.tutor.tr(message))

    def draw_title(self) -> None:
        """Draw the rule with the lab's name and title."""
        rule = self._rule
        rule.title = f"{self.lab.name}  {self.tutor.tr(self.lab.title)}"

    def describe(self) -> str:
        """Return the figures as plain text with their numbers."""
        if self.report is None or self.withheld:
            return self.tutor.tr(say("There is no result yet."))
        width = max(40, min(96, int(self.app.size.width * 0.96) - 8))  # inside the dialog that shows it
        return described(self.report, width, self.tutor.tr)
