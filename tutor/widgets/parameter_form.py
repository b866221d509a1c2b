"""The parameters of a lab: one line while they rest, one row each while they are edited.

Up and down choose a row, left and right change its value, enter opens a field to type in, space toggles. What is
refused stays, with the reason under it, until it is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message as Event
from textual.widgets import Input, Static

from engine.contract.kinds import Choices, Kind
from engine.contract.message import Message
from engine.contract.parameters import SEED, InvalidParameters, Params, build, kinds
from tutor.parameter_values import editable, stepped, steps_by_arrows, toggled, typed
from tutor.text.width import clean
from tutor.widgets.form_rows import SEED_FIELD, FormRows

if TYPE_CHECKING:
    from tutor.app import TutorApp


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
