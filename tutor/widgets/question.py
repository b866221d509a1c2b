"""A question in place: a quiz item of the text, or a prediction before its lab. Answered, it stays, explained.

What the learner has entered lives in a `QuestionState` that the screen keeps by id, so that a change of language, of
step or of window size loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message as Event
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.contract.message import Message, say
from tutor.questions import CONFIDENCES, QuestionState, QuestionText
from tutor.widgets.choices import Choices, Confidence

if TYPE_CHECKING:
    from tutor.app import TutorApp


class QuestionView(Vertical):
    """Shows one question and takes its answer; says what was answered, judges nothing."""

    DEFAULT_CSS = """
    QuestionView { height: auto; width: 1fr; margin-bottom: 1; padding: 0 0 0 1; border-left: outer $border-blurred; }
    QuestionView:focus-within { border-left: outer $accent; }
    QuestionView > Static { height: auto; width: 1fr; }
    QuestionView > Input { width: 1fr; max-width: 40; height: 1; border: none; padding: 0; background: $boost; }
    """

    @dataclass
    class Answered(Event):
        """The learner gave `answer` (an option's value, several, or text), sure to `confidence` percent."""

        question: QuestionView
        answer: str | tuple[str, ...]
        confidence: int | None

    @dataclass
    class Skipped(Event):
        """The learner wants to see the result without predicting it."""

        question: QuestionView

    @dataclass
    class Left(Event):
        """The learner goes on from a question that is done."""

        question: QuestionView

    def __init__(self, text: QuestionText, state: QuestionState) -> None:
        super().__init__()
        self.text = text
        self.state = state
        self._asked = Static(id="ask")
        self._answer = Choices(self, id="answer") if text.options else self._field()
        self._sure = None if text.options else Confidence(self, id="confidence")
        self._judged = Static(id="verdict")

    def _field(self) -> Input:
        return Input(self.state.draft, id="answer", compact=True)

    def show(self, text: QuestionText) -> None:
        """Show the question in other words: another language, or with its verdict."""
        self.text = text
        self.update_state()

    def compose(self) -> ComposeResult:
        """Show the question, its answer field and the verdict."""
        yield self._asked
        yield self._answer
        if self._sure is not None:
            yield self._sure
        yield self._judged

    def on_mount(self) -> None:
        """Draw the state the question is in."""
        self.update_state()

    # -- drawing ------------------------------------------------------------------------------------------------

    def tr(self, message: Message) -> str:
        """Return a message in the learner's language."""
        return cast("TutorApp", self.app).tr(message)

    def update_state(self) -> None:
        """Draw question, answer and verdict anew after the state has changed."""
        if not self.is_attached:
            return
        state, answer = self.state, self._answer
        collapsed = self.text.predicts and state.stage in ("waiting", "done")
        self._asked.display = answer.display = not collapsed
        self._asked.update(self._ask())
        self._judged.display = bool(self._verdict())
        self._judged.update(self._verdict())
        if isinstance(answer, Choices):
            answer.update(answer.drawing())
        else:
            answer.placeholder = self._placeholder()
            answer.disabled = state.stage == "sure" or (state.stage == "done" and state.right is True)
        if self._sure is not None:
            self._sure.display = state.stage == "sure"
            self._sure.update(self._sure.drawing())

    def _ask(self) -> Text:
        from tutor.text.inline import line

        head = say("Predict") if self.text.predicts else say("Question")
        return Text.assemble((self.tr(head) + "  ", "bold"), line(self.text.ask))

    def _verdict(self) -> Text:
        state = self.state
        if state.refusal is not None:
            return Text(self.tr(state.refusal), style="italic")
        if state.stage == "waiting":
            return Text(self.tr(say("Predicted.")), style="italic")
        if state.stage != "done":
            return Text()
        from tutor.text.inline import line

        mark = {True: "✓ ", False: "✗ ", None: ""}[state.right]
        return Text.assemble((mark, "bold"), line(self.text.verdict))

    def _placeholder(self) -> str:
        examples = {"number": say("a number, e.g. 0.25 or 1e-5"), "shape": say("numbers with commas, e.g. 2, 3, 5")}
        return self.tr(examples.get(self.text.kind, say("your answer")))

    # -- answering ----------------------------------------------------------------------------------------------

    def focus_answer(self) -> None:
        """Put the keyboard where the answer is given."""
        self.answer_field.focus()

    @property
    def answer_field(self) -> Widget:
        """What takes the keyboard: the options, the field, or the question of how sure."""
        return self._sure if self._sure is not None and self.state.stage == "sure" else self._answer

    def take(self, answer: str | tuple[str, ...]) -> None:
        """Take an answer: a prediction is then asked how sure it is, a quiz item is answered."""
        if not answer:
            self.state.refusal = say("Give an answer first, or go on: the question waits here.")
        elif self.text.predicts and self.state.stage == "open":
            self.state.refusal, self.state.stage = None, "sure"
        else:
            self.state.refusal = None
            sure = CONFIDENCES[self.state.confidence] if self.text.predicts else None
            self.post_message(self.Answered(self, answer, sure))
        self.update_state()
        self.focus_answer()

    def reopen(self) -> None:
        """Take one step back: from how sure to the answer itself."""
        self.state.stage = "open"
        self.update_state()
        self.focus_answer()

    def skip(self) -> None:
        """Skip a prediction; a quiz item simply stays open."""
        if self.text.predicts and self.state.stage != "done":
            self.post_message(self.Skipped(self))

    def leave(self) -> None:
        """Go on from here."""
        self.post_message(self.Left(self))

    @on(Input.Changed)
    def _keep_draft(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self.state.draft and self.state.stage == "done" and not self.text.predicts:
            self.state.stage = "open"  # a wrong answer can be given again
        self.state.draft = event.value
        if self.state.refusal is not None:
            self.state.refusal = None
            self.update_state()

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        self.take(event.value.strip())


def focused_question(widget: Widget | None) -> QuestionView | None:
    """Return the question that holds the focused widget, or None."""
    while widget is not None:
        if isinstance(widget, QuestionView):
            return widget
        widget = widget.parent if isinstance(widget.parent, Widget) else None
    return None
