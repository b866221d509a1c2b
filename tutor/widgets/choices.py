"""How a question takes an answer: its options to choose from, and how sure the learner is of a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.events import Click, Key
from textual.widgets import Static

from engine.contract.message import say
from tutor.course.model import Option
from tutor.questions import CONFIDENCES

if TYPE_CHECKING:
    from tutor.widgets.question import QuestionView


def sureness(question: QuestionView) -> Text:
    """The line that asks how sure the learner is."""
    percent = CONFIDENCES[question.state.confidence]
    return Text.assemble(
        question.tr(say("How sure?")), "  ◂ ", (f"{percent} %", "bold"), " ▸  ", (question.tr(say("enter: see")), "dim")
    )


def change_sureness(question: QuestionView, key: str) -> bool:
    """Let left and right change how sure, enter confirm, escape go back; return whether `key` was one of them."""
    state = question.state
    if key in ("left", "right"):
        state.confidence = max(0, min(len(CONFIDENCES) - 1, state.confidence + (1 if key == "right" else -1)))
        question.update_state()
    elif key == "escape":
        question.reopen()
    else:
        return False
    return True


class Choices(Static, can_focus=True):
    """The options of a question, one or several lines each."""

    def __init__(self, question: QuestionView, *, id: str) -> None:
        super().__init__(id=id)
        self.question = question

    @property
    def options(self) -> Sequence[Option]:
        """The options, in the order shown."""
        return self.question.text.options

    def drawing(self) -> RenderableType:
        """Draw the options, the cursor, and the question of how sure."""
        from tutor.text.inline import line

        state, grid = self.question.state, Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        done = state.stage == "done"
        for number, option in enumerate(self.options, 1):
            at_cursor = number - 1 == state.cursor
            picked = option.value in state.chosen
            sign = "▸" if at_cursor and not done else ("✓" if done and option.right else " ")
            box = ("■ " if picked else "□ ") if self.question.text.kind == "multi" else ""
            style = "bold" if (at_cursor and not done) or (done and picked) else ("dim" if done else "")
            grid.add_row(Text(f"{sign} {number}", style=style), Text.assemble(box, line(option.text), style=style))
        if state.stage == "sure":
            return Group(grid, sureness(self.question))
        return grid

    def on_key(self, event: Key) -> None:
        """Move the cursor, choose, answer, skip."""
        if self._handle(event.key, event.character or ""):
            event.stop()
            event.prevent_default()

    def _handle(self, key: str, character: str) -> bool:
        question, state = self.question, self.question.state
        if state.stage in ("waiting", "done"):
            if key == "enter":
                question.leave()
                return True
            if state.right is not False or question.text.predicts:
                return False
            state.stage = "open"  # a wrong answer can be given again
        if key == "s" and question.text.predicts:
            question.skip()
        elif state.stage == "sure":
            if key == "enter":
                question.take(self._answer())
                return True
            return change_sureness(question, key)
        elif key in ("up", "down"):
            state.cursor = (state.cursor + (1 if key == "down" else -1)) % len(self.options)
        elif character.isdigit() and 0 < int(character) <= len(self.options):
            state.cursor = int(character) - 1
        elif key == "space" and question.text.kind == "multi":
            state.chosen ^= {self.options[state.cursor].value}
        elif key == "enter":
            question.take(self._answer())
        else:
            return False
        question.update_state()
        return True

    def _answer(self) -> str | tuple[str, ...]:
        state = self.question.state
        if self.question.text.kind == "multi":
            return tuple(sorted(state.chosen))
        state.chosen = {self.options[state.cursor].value}
        return self.options[state.cursor].value

    def on_click(self, event: Click) -> None:
        """Choose the option that was clicked; a second click answers."""
        self.focus()
        row = self._option_at(event.y)
        if row is None or self.question.state.stage in ("waiting", "done"):
            return
        again = row == self.question.state.cursor
        self.question.state.cursor = row
        if again:
            self.question.take(self._answer())
        self.question.update_state()

    def _option_at(self, y: int) -> int | None:
        from tutor.text.inline import line

        top = 0
        for index, option in enumerate(self.options):
            height = len(line(option.text).wrap(self.app.console, max(8, self.size.width - 4)))
            if top <= y < top + height:
                return index
            top += height
        return None


class Confidence(Static, can_focus=True):
    """How sure the learner is of a typed prediction."""

    def __init__(self, question: QuestionView, *, id: str) -> None:
        super().__init__(id=id)
        self.question = question

    def drawing(self) -> Text:
        """Draw the line."""
        return sureness(self.question)

    def on_key(self, event: Key) -> None:
        """Change, confirm or go back."""
        if event.key == "enter":
            self.question.take(self.question.state.draft.strip())
        elif event.key == "s":
            self.question.skip()
        elif not change_sureness(self.question, event.key):
            return
        event.stop()
        event.prevent_default()
