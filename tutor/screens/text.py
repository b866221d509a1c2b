"""A text to read in full, in a scroll."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.screens.base import Leaving


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
            yield Static(Text.assemble((self._heading, "bold"), "\n\n", self._body, no_wrap=True))
