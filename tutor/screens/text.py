"""A text to read in full, in a scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.contract.message import say
from tutor.screens.base import Leaving

if TYPE_CHECKING:
    from tutor.app import TutorApp


class TextScreen(Leaving, ModalScreen[None]):
    """Shows a title and plain text; escape closes it."""

    BINDINGS: ClassVar[list[Any]] = [("escape,enter,q,d", "leave", "")]
    DEFAULT_CSS = """
    TextScreen .dialog { width: 106; height: auto; }
    TextScreen Static { width: auto; min-width: 100%; }
    """

    def __init__(self, title: str, body: str) -> None:
        super().__init__()
        self._heading, self._body = title, body

    def compose(self) -> ComposeResult:
        """Show the text."""
        with VerticalScroll(classes="dialog"):
            closes = cast("TutorApp", self.app).tr(say("escape closes"))
            yield Static(
                Text.assemble((self._heading, "bold"), (f"   {closes}", "dim"), "\n\n", self._body, no_wrap=True)
            )
