"""The palette: type part of a name, go there. (Textual's own ends the app when it is left while it searches.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.fuzzy import FuzzySearch
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from engine.contract.message import say
from tutor.commands import Command
from tutor.screens.base import Leaving

if TYPE_CHECKING:
    from tutor.app import TutorApp

MOST = 60


class PaletteScreen(Leaving, ModalScreen["Command | None"]):
    """Finds a command by part of its name; enter does the one at the cursor, escape none."""

    DEFAULT_CSS = """
    PaletteScreen { align: center top; }
    PaletteScreen .dialog { margin-top: 2; }
    PaletteScreen Input { border: none; height: 1; padding: 0; background: $surface; }
    PaletteScreen OptionList { height: auto; max-height: 16; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        ("escape,f9", "leave", ""),
        ("down", "list('cursor_down')", ""),
        ("up", "list('cursor_up')", ""),
        ("pagedown", "list('page_down')", ""),
        ("pageup", "list('page_up')", ""),
    ]

    def __init__(self, commands: list[Command]) -> None:
        super().__init__()
        self._commands = commands
        self._shown: list[Command] = []
        self._search = FuzzySearch()
        self._list = OptionList()
        self._list.can_focus = False

    def compose(self) -> ComposeResult:
        """Show the field and the list."""
        tr = cast("TutorApp", self.app).tr
        with Vertical(classes="dialog"):
            yield Input(placeholder=tr(say("lesson, step, lab or command …")), compact=True)
            yield self._list

    def on_mount(self) -> None:
        """Offer everything while nothing is typed."""
        self._show(self._commands)

    @on(Input.Changed)
    def _find(self, event: Input.Changed) -> None:
        """Offer what matches, the best first."""
        query = event.value.strip()
        if not query:
            self._show(self._commands)
            return
        scored = [
            (self._search.match(query, f"{command.text} {command.hint}")[0], command) for command in self._commands
        ]
        found = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        self._show([command for _, command in found])

    def _show(self, commands: list[Command]) -> None:
        self._shown = commands[:MOST]
        lines = [Text.assemble(command.text, ("  " + command.hint, "dim"), no_wrap=True) for command in self._shown]
        self._list.clear_options()
        self._list.add_options([Option(line) for line in lines])
        self._list.highlighted = 0 if lines else None

    def action_list(self, move: str) -> None:
        """Move the cursor of the list; the field keeps the keyboard."""
        if self._shown and self._list.highlighted is not None and self._list.size.height:
            getattr(self._list, f"action_{move}")()

    @on(Input.Submitted)
    def _take(self) -> None:
        """Do what the cursor is on."""
        if self._shown and self._list.highlighted is not None:
            self.leave(self._shown[self._list.highlighted])

    @on(OptionList.OptionSelected)
    def _take_clicked(self, event: OptionList.OptionSelected) -> None:
        """Do what was clicked."""
        self.leave(self._shown[event.option_index])
