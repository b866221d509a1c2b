"""What a window below 60 × 20 shows; it goes away by itself when there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.contract.message import say

if TYPE_CHECKING:
    from tutor.app import TutorApp


class TooSmallScreen(ModalScreen[None]):
    """One sentence with the size there is and the size there must be."""

    def compose(self) -> ComposeResult:
        """Show the sentence."""
        yield Static(self._sentence(), id="too-small")

    def on_resize(self) -> None:
        """Tell the present size."""
        self.query_one("#too-small", Static).update(self._sentence())

    def _sentence(self) -> str:
        tutor = cast("TutorApp", self.app)
        width, height = self.app.size
        return tutor.tr(
            say(
                "This window has {width} × {height} cells; the tutor needs 60 × 20. Enlarge it, or press q to leave.",
                width=width,
                height=height,
            )
        )
