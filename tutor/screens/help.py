"""All keys, with what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.table import Table
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.contract.message import Message, say
from tutor.bindings import KEYS
from tutor.screens.base import Leaving

if TYPE_CHECKING:
    from tutor.app import TutorApp

IN_PANES: tuple[tuple[str, Message], ...] = (
    ("⏎", say("Do the obvious next thing: answer, run, or go on")),
    ("esc", say("Go back one level, or stop a run; nothing is lost")),
    ("↑ ↓ ← →", say("Move in the focused pane: scroll, choose an answer, move the cursor on a map")),
    ("1 … 9", say("Choose an answer by its number")),
    ("s", say("Skip a prediction (its result is shown, the skip is noted)")),
    ("f", say("Enlarge the chosen figure, or put it back")),
    ("r", say("On a map: dim the other rows")),
    ("n", say("On a map: show its numbers as a table")),
    ("a", say("On a map too large for its place: show means instead of peaks, or peaks again")),
    ("1 … 9", say("Go to the figure of that number")),
)

FUNCTION_KEYS = {key.id: key.keys.rpartition(",")[2].upper() for key in KEYS if ",f" in key.keys or key.keys[:1] == "f"}


class HelpScreen(Leaving, ModalScreen[None]):
    """The table of keys; any of escape, enter, q and ? closes it."""

    BINDINGS: ClassVar[list[Any]] = [("escape,enter,q,question_mark,f1", "leave", "")]

    def compose(self) -> ComposeResult:
        """Show the table in a scroll."""
        with VerticalScroll(classes="dialog"):
            yield Static(self._table())

    def _table(self) -> Table:
        tr = cast("TutorApp", self.app).tr
        table = Table(box=None, show_header=True, header_style="bold", pad_edge=False, expand=True)
        table.add_column(tr(say("Key")), no_wrap=True)
        table.add_column(tr(say("While typing")), no_wrap=True)
        table.add_column(tr(say("What it does")), ratio=1)
        for key in KEYS:
            table.add_row(key.shown, FUNCTION_KEYS.get(key.id, ""), tr(key.description))
        for shown, description in IN_PANES:
            table.add_row(shown, "", tr(description))
        return table
