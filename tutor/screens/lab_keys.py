"""What the keys do on every screen that shows a lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from engine.contract.message import say

if TYPE_CHECKING:
    from textual.screen import Screen

    from tutor.app import TutorApp
    from tutor.widgets.lab_panel import LabPanel
    from tutor.widgets.parameter_form import ParameterForm


class LabKeys:
    """Run, edit, describe and copy, for a screen with a `panel`."""

    if TYPE_CHECKING:

        @property
        def panel(self) -> LabPanel | None: ...

        def _show_lab(self, shown: bool) -> None: ...

    def _waits_for_lab(self, action: Callable[[], None]) -> bool:
        """Whether the lab is still on its way to the screen; `action` is then done when it is there."""
        return False

    @property
    def _tutor(self) -> TutorApp:
        return cast("TutorApp", cast("Screen[None]", self).app)

    def action_run(self) -> None:
        """Run the lab with the parameters in the form; a waiting prediction comes first."""
        if self._waits_for_lab(self.action_run) or self.panel is None:
            return
        self._show_lab(True)
        if question := self.panel.open_question():
            question.focus_answer()
        else:
            self.panel.run_now()

    def action_edit_parameters(self) -> None:
        """Give the parameter form the keyboard."""
        if not self._waits_for_lab(self.action_edit_parameters) and self.panel is not None:
            self._show_lab(True)
            self.panel.query_one("FormRows").focus()

    def on_parameter_form_left(self, event: ParameterForm.Left) -> None:
        """From the form back to the figures."""
        event.stop()
        if self.panel is not None:
            self.panel.landing().focus()

    def action_describe(self) -> None:
        """Show the figures in words and numbers."""
        from tutor.screens.text import TextScreen

        if self.panel is not None:
            self._tutor.push_screen(TextScreen(self._tutor.tr(self.panel.lab.title), self.panel.describe()))

    def action_copy_value(self) -> None:
        """Copy the figures' numbers, and keep them in a file too: not every terminal has a clipboard."""
        from tutor.clipboard import copy_and_keep

        panel, tutor = self.panel, self._tutor
        if panel is None or panel.report is None or panel.withheld:
            return
        path = copy_and_keep(tutor, panel.describe(), panel.lab.name)
        if path is None:
            tutor.notify(tutor.tr(say("Copied to the clipboard.")), timeout=3)
        else:
            tutor.notify(tutor.tr(say("Copied; also in the file {path}", path=str(path))), timeout=6)
