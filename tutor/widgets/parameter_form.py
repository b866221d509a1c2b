"""The parameters of a lab: one line while they rest, one row each while they are edited.

Up and down choose a row, left and right change its value, enter opens a field to type in, space toggles. What is
refused stays, with the reason under it, until it is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Key
from textual.message import Message as Event
from textual.widgets import Input, Static

from engine.contract.kinds import Choices, Kind
from engine.contract.message import Message
from engine.contract.parameters import SEED, InvalidParameters, Params, build, kinds
from tutor.parameter_values import editable, stepped, steps_by_arrows, toggled, typed, written
from tutor.text.width import cells, clean, cut, pad

if TYPE_CHECKING:
    from tutor.app import TutorApp

SEED_FIELD = "seed"
FAST = 5


class ParameterForm(Vertical):
    """Edits the values of one lab's parameters and its seed."""

    DEFAULT_CSS = """
    ParameterForm { height: auto; width: 1fr; }
    ParameterForm > FormRows { height: auto; width: 1fr; }
    ParameterForm > #problem { height: auto; width: 1fr; color: $error; }
    ParameterForm > Input { height: 1; border: none; padding: 0 1; background: $boost; display: none; }
    ParameterForm > Input.open { display: block; }
    """

    @dataclass
    class Changed(Event):
        """The parameters have changed and are valid."""

        params: Params
        seed: int

    @dataclass
    class Entered(Event):
        """Enter was pressed where it can only mean: run."""

    @dataclass
    class Left(Event):
        """Escape: back to the figures."""

    def __init__(self, parameters: type[Params], values: dict[str, Any], seed: int) -> None:
        super().__init__()
        self.parameters = parameters
        self.kinds: dict[str, Kind] = {**kinds(parameters), SEED_FIELD: SEED}
        self.values: dict[str, Any] = {**values, SEED_FIELD: seed}
        self.problems: dict[str, Message] = {}
        self.cursor = 0
        self.option_cursor = 0
        self.rows = FormRows(self)
        self.editor = Input(id="editor", compact=True)
        self._problem = Static(id="problem")

    def compose(self) -> ComposeResult:
        """Show the rows, the field to type in and the problem."""
        yield self.rows
        yield self.editor
        yield self._problem

    def on_mount(self) -> None:
        """Draw the values."""
        self.validate()
        self.draw()

    @property
    def seed(self) -> int:
        """The seed of the next run."""
        return int(self.values[SEED_FIELD])

    def params(self) -> Params | None:
        """Return the parameters, or None when something is refused."""
        given = {name: value for name, value in self.values.items() if name != SEED_FIELD}
        try:
            return build(self.parameters, given, cast("TutorApp", self.app).language)
        except InvalidParameters as refused:
            self.problems = {problem.field: problem.message for problem in refused.problems}
            return None

    def fields(self) -> list[str]:
        """Return the fields that matter for the present values, the seed last."""
        current = self._unchecked()
        return [name for name in self.kinds if name == SEED_FIELD or current is None or current.relevant(name)]

    def set_values(self, values: dict[str, Any]) -> None:
        """Take values from outside (the other language's defaults) without announcing them."""
        self.values.update(values)
        self.validate()
        self.draw()

    def validate(self) -> Params | None:
        """Check the values and note the problems."""
        self.problems = {}
        return self.params()

    def change(self, field: str, value: Any) -> None:
        """Set a value; announce the parameters when all is well."""
        self.values[field] = value
        params = self.validate()
        self.draw()
        if params is not None:
            self.post_message(self.Changed(params, self.seed))

    def _unchecked(self) -> Params | None:
        """Return the parameters without their cross-field rules, for asking what is relevant and on offer."""
        try:
            return self.parameters(**{name: value for name, value in self.values.items() if name != SEED_FIELD})
        except TypeError:
            return None

    # -- drawing ------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw rows and problem anew."""
        if not self.is_attached:
            return
        self.rows.update(self.rows.drawing())
        self._problem.display = bool(self.problems)
        self._problem.update("\n".join(self.tr(message) for message in self.problems.values()))

    def tr(self, message: str | Message) -> str:
        """Return a message in the learner's language; data as it is."""
        return cast("TutorApp", self.app).tr(message) if isinstance(message, Message) else message

    # -- editing ------------------------------------------------------------------------------------------------

    @property
    def field(self) -> str:
        """The field at the cursor."""
        fields = self.fields()
        return fields[min(self.cursor, len(fields) - 1)]

    def move(self, by: int) -> None:
        """Move the cursor to another row."""
        self.cursor = (min(self.cursor, len(self.fields()) - 1) + by) % len(self.fields())
        self.option_cursor = 0
        self.draw()

    def step(self, steps: int) -> None:
        """Change the value at the cursor, or move among the options of a subset."""
        kind, current = self.kinds[self.field], self._unchecked()
        if isinstance(kind, Choices):
            self.option_cursor = (self.option_cursor + steps) % len(kind.options)
            self.draw()
        elif steps_by_arrows(kind):
            allowed = current.options(self.field) if current is not None and self.field != SEED_FIELD else None
            self.change(self.field, stepped(kind, self.values[self.field], steps, allowed))

    def toggle(self) -> None:
        """Put the option at the cursor in or out, or flip a boolean."""
        kind = self.kinds[self.field]
        if isinstance(kind, Choices):
            option = kind.options[self.option_cursor]
            self.change(self.field, toggled(kind, self.values[self.field], option))
        else:
            self.step(1)

    def open_editor(self) -> bool:
        """Open a field to type the value in; return whether this kind is typed."""
        kind = self.kinds[self.field]
        if not typed(kind):
            return False
        self.editor.value = editable(kind, self.values[self.field])
        self.editor.add_class("open")
        self.editor.focus()
        return True

    @on(Input.Submitted, "#editor")
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        value = self.kinds[self.field].read(clean(event.value))
        if isinstance(value, Message):
            self.problems = {self.field: value}
            self.draw()
            return
        self.close_editor()
        self.change(self.field, value)

    @on(Input.Changed, "#editor")
    def _typing(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("open") and self.problems:
            self.problems = {}
            self.draw()

    def close_editor(self) -> None:
        """Close the field; the rows have the keyboard again."""
        self.editor.remove_class("open")
        self.rows.focus()
        self.validate()
        self.draw()

    @property
    def editing(self) -> bool:
        """Whether the field is open."""
        return self.editor.has_class("open")

    def on_key(self, event: Key) -> None:
        """Escape closes the field first."""
        if event.key == "escape" and self.editing:
            self.close_editor()
            event.stop()


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
