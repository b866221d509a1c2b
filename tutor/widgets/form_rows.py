"""The rows of a parameter form: a flowing line while they rest, a row each while they have the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.events import Click, Key
from textual.widgets import Static

from engine.contract.kinds import Choices
from tutor.parameter_values import steps_by_arrows, written
from tutor.text.width import cells, cut, pad

if TYPE_CHECKING:
    from tutor.widgets.parameter_form import ParameterForm

SEED_FIELD = "seed"
FAST = 5


class FormRows(Static, can_focus=True):
    """The values: a flowing line while at rest, a row each while focused."""

    def __init__(self, form: ParameterForm) -> None:
        super().__init__()
        self.form = form

    def drawing(self) -> Text:
        """Draw the values for the present focus and width."""
        return self._rows() if self.has_focus or self.form.editing else self._flow()

    def _flow(self) -> Text:
        line, used, width = Text(), 0, max(20, self.size.width or 60)
        for name in self.form.fields():
            label = self.form.tr(self.form.kinds[name].label)
            value = cut(self._value(name), max(8, width - cells(label) - 4))
            if name == SEED_FIELD and value == "0":
                continue
            piece = Text.assemble((label + " ", "dim"), (value, "bold"))
            room = cells(piece.plain) + (3 if used else 0)
            if used and used + room > width:
                line.append("\n")
                used = 0
            elif used:
                line.append("   ")
            line.append_text(piece)
            used += room
        return line

    def _rows(self) -> Text:
        fields, lines = self.form.fields(), []
        labels = {name: self.form.tr(self.form.kinds[name].label) for name in fields}
        column = min(24, max(cells(label) for label in labels.values()))
        for name in fields:
            at_cursor = name == self.form.field
            kind = self.form.kinds[name]
            left, right = ("◂ ", " ▸") if at_cursor and steps_by_arrows(kind) else ("  ", "")
            value = self._value(name)
            line = Text.assemble(
                ("▸ " if at_cursor else "  ", "bold"), (pad(cut(labels[name], column), column) + " ", "dim"), left
            )
            if isinstance(kind, Choices):
                line.append_text(self._options(kind, self.form.values[name], at_cursor))
            else:
                line.append(cut(value, max(8, self.size.width - column - 8)), style="bold" if at_cursor else "")
            line.append(right)
            if name in self.form.problems:
                line.append(" ✗", style="bold")
            lines.append(line)
        return Text("\n").join(lines)

    def _options(self, kind: Choices, chosen: tuple[str, ...], at_cursor: bool) -> Text:
        text = Text()
        for index, option in enumerate(kind.options):
            style = "bold underline" if at_cursor and index == self.form.option_cursor else ""
            text.append(("■ " if option in chosen else "□ ") + self.form.tr(kind.option_label(option)), style=style)
            text.append("  ")
        return text

    def _value(self, name: str) -> str:
        kind, value = self.form.kinds[name], self.form.values[name]
        if isinstance(kind, Choices):
            return ", ".join(self.form.tr(kind.option_label(option)) for option in value)
        return self.form.tr(written(kind, value))

    def on_key(self, event: Key) -> None:
        """Move, change, toggle, type, run."""
        if self._handle(event.key):
            event.stop()
            event.prevent_default()

    def _handle(self, key: str) -> bool:
        form = self.form
        moves = {"up": -1, "down": 1}
        steps = {"left": -1, "right": 1, "pagedown": -FAST, "pageup": FAST}
        if key in moves:
            form.move(moves[key])
        elif key in steps:
            form.step(steps[key])
        elif key == "space":
            form.toggle()
        elif key == "enter":
            if not form.open_editor():
                form.post_message(form.Entered())
        elif key == "escape":
            form.post_message(form.Left())
        else:
            return False
        return True

    def watch_has_focus(self, has_focus: bool) -> None:
        """Open up into rows, or fold into a line."""
        super().watch_has_focus(has_focus)
        self.form.draw()

    def on_resize(self) -> None:
        """Flow anew at the new width."""
        self.form.draw()

    def on_click(self, event: Click) -> None:
        """Put the cursor on the row that was clicked."""
        if self.has_focus and event.y < len(self.form.fields()):
            self.form.cursor = event.y
            self.form.draw()
