"""A lab full screen, with the parameters it was last left with."""

from __future__ import annotations

from asyncio import Lock
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult

from engine.contract.labs import declaration
from engine.contract.message import Message
from engine.contract.parameters import defaults, kinds
from tutor.screens.base import KeyBar, TooSmall, TopBar, TutorScreen, bindings_of
from tutor.screens.lab_keys import LabKeys
from tutor.widgets.form_rows import SEED_FIELD
from tutor.widgets.lab_panel import LabPanel, LabSetup


class BenchScreen(LabKeys, TutorScreen):
    """One lab, all the room."""

    PLACE = "bench"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[Any]] = [*bindings_of("bench"), ("enter", "run", ""), ("escape", "back", "")]

    def __init__(self, lab: str) -> None:
        super().__init__()
        self.lab = lab
        self._panes = Lock()  # one panel at a time

    def compose(self) -> ComposeResult:
        """Show the frame and the lab."""
        yield TooSmall()
        yield TopBar()
        yield self._new_panel()
        yield KeyBar()

    def on_mount(self) -> None:
        """Give the keyboard to the first figure."""
        self.query_one(LabPanel).take_keyboard()

    def _new_panel(self) -> LabPanel:
        """Return a panel with the lab's defaults and what the learner changed last time."""
        declared = declaration(self.lab).parameters
        kept = self.tutor.store.setting(f"bench {self.lab}", {})
        values, seed = defaults(declared, self.tutor.language), 0
        for name, kind in kinds(declared).items():
            value = kind.read(kept[name]) if name in kept else None
            if value is not None and not isinstance(value, Message):
                values[name] = value
        if isinstance(kept.get(SEED_FIELD), int):
            seed = kept[SEED_FIELD]
        return LabPanel(LabSetup(self.lab, values, seed))

    @property
    def panel(self) -> LabPanel | None:
        """The lab."""
        return next((panel for panel in self.query(LabPanel) if panel.is_whole), None)

    def headings(self) -> list[Text]:
        """Return the lab's name."""
        return [Text.assemble(" tutor  ", (self.lab, "bold"))]

    def _show_lab(self, shown: bool) -> None:
        """The lab is always shown here."""

    def action_switch_pane(self) -> None:
        """Change between the parameters and the figures."""
        if self.panel is not None:
            rows = self.panel.form.rows
            (self.panel.landing() if rows.has_focus else rows).focus()

    def action_back(self) -> None:
        """Stop a run, or leave the bench."""
        if self.panel is None or not self.panel.cancel():
            self.leave()

    @on(LabPanel.Finished)
    def _keep(self, event: LabPanel.Finished) -> None:
        """Remember what the learner changed (not the language's own texts)."""
        tutor, panel = self.tutor, event.panel
        plain = {**defaults(panel.lab.parameters, tutor.language), SEED_FIELD: 0}
        changed = {name: value for name, value in panel.form.values.items() if value != plain[name]}
        tutor.saving(tutor.store.set_setting(f"bench {self.lab}", changed))
        tutor.record_run(event.request, event.report)

    def retranslate(self) -> None:
        """Show the lab in the other language, with what was changed."""
        self.run_worker(self._retranslated(), group="step", exit_on_error=False)

    async def _retranslated(self) -> None:
        async with self._panes:
            old, new = self.panel, self._new_panel()
            if old is None:
                return  # the screen is being left
            kept, row = old.keep(), old.form_row()
            async with self.batch():
                await old.remove()
                await self.mount(new, before=self.query_one(KeyBar))
        new.restore(kept)
        new.take_keyboard(row)
        self.refresh_bars()
