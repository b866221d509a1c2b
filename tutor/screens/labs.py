"""The list of labs; the chosen one opens full screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.contract.labs import declaration, names
from engine.contract.message import say
from tutor.screens.base import Leaving

if TYPE_CHECKING:
    from tutor.app import TutorApp


class LabsScreen(Leaving, ModalScreen[str | None]):
    """Lets the learner choose a lab; escape chooses none."""

    BINDINGS: ClassVar[list[Any]] = [("escape,l,f4", "leave", "")]

    def compose(self) -> ComposeResult:
        """List name and title of every lab."""
        tr = cast("TutorApp", self.app).tr
        options = []
        for name in names():
            lab = declaration(name)
            label = Text.assemble((f"{name:<20}", "bold"), tr(lab.title), "  ", (" ".join(lab.lessons), "dim"))
            options.append(Option(label, id=name))
        with Vertical(classes="dialog"):
            yield Static(Text(tr(say("Labs: enter opens one full screen, escape goes back")), style="dim"))
            yield OptionList(*options)

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.leave(event.option.id)
