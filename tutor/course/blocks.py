"""Fenced blocks whose body is TOML: lab, predict, quiz and exercise. Faults are collected, never raised."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.contract.message import Message, say
from tutor.course import toml
from tutor.course.answers import read_shape
from tutor.course.model import Answer, Assertion, Block, Exercise, LabBlock, Option, Predict, Quiz
from tutor.course.near import nearest
from tutor.i18n import translate

PREDICT_TYPES = ("choice", "number", "shape", "direction", "text")
QUIZ_TYPES = ("choice", "number", "shape", "text", "multi")
RELATIONS = ("==", "!=", "<", "<=", ">", ">=", "~")

_KEYS = {
    "lab": ("id", "name", "params", "seed", "notice", "assert"),
    "assert": ("value", "relation", "bound", "tolerance"),
    "predict": ("id", "ask", "type", "options", "answer", "answer_from", "tolerance", "explain", "unit"),
    "quiz": ("id", "type", "ask", "options", "answer", "answer_from", "tolerance", "accept", "explain"),
    "options": ("text", "value", "right", "why"),
    "exercise": ("id", "signature", "statement"),
}


@dataclass
class Reader:
    """Reads the keys of one table and notes what is wrong; `line` is the line of the body's first line."""

    body: str
    line: int
    table: Mapping[str, Any]
    faults: list[tuple[int, Message]] = field(default_factory=list)
    nth: int = 0

    def fault(self, key: str, message: Message) -> None:
        """Note a fault at the line that sets `key`."""
        self.faults.append((self.line + toml.line_of(self.body, key, self.nth), message))

    def expect(self, kind: str) -> None:
        """Note every key that a `kind` does not have, with the nearest one that it has."""
        for key in self.table:
            if key in _KEYS[kind]:
                continue
            if close := nearest(key, _KEYS[kind]):
                self.fault(key, say("There is no key “{key}” here; did you mean “{close}”?", key=key, close=close))
            else:
                known = ", ".join(_KEYS[kind])
                self.fault(key, say("There is no key “{key}” here; there are: {known}.", key=key, known=known))

    def text(self, key: str, needed: bool = True) -> str:
        """Return a text, "" when it is missing."""
        value = self.table.get(key)
        if value is None:
            if needed:
                self.fault(key, say("The key “{key}” is missing.", key=key))
            return ""
        if not isinstance(value, str):
            self.fault(key, say("“{key}” must be text.", key=key))
            return ""
        if needed and not value.strip():
            self.fault(key, say("“{key}” is empty.", key=key))
        if found := toml.CONTROL.search(value):
            code = f"U+{ord(found.group()):04X}"
            self.fault(key, say("“{key}” holds the control character {code}.", key=key, code=code))
        return toml.CONTROL.sub("", value).strip()

    def number(self, key: str, default: float) -> float:
        """Return a finite number."""
        value = self.table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.fault(key, say("“{key}” must be a number.", key=key))
            return default
        return value

    def tolerance(self) -> float:
        """Return the tolerance: 0 where none is written."""
        value = self.number("tolerance", 0.0)
        if value < 0:
            self.fault("tolerance", say("The tolerance must not be less than 0."))
        return float(value)

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words (the first, when the file has another)."""
        value = self.text(key)
        if value and value not in allowed:
            self.fault(key, say("“{key}” must be one of: {allowed}.", key=key, allowed=", ".join(allowed)))
        return value if value in allowed else allowed[0]

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        """Return a list of tables."""
        value = self.table.get(key, [])
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return value
        self.fault(key, say("“{key}” must be a list of tables.", key=key))
        return []

    def inside(self, table: Mapping[str, Any], nth: int) -> Reader:
        """Return a reader for the nth table of a list; its faults go to the same place."""
        return Reader(self.body, self.line, table, self.faults, nth)


def read_block(kind: str, body: str, line: int, language: str) -> tuple[Block | None, list[tuple[int, Message]]]:
    """Return the block in a fence of this kind and its faults; `line` is the line of the fence itself.

    There is no block when the TOML itself is broken.
    """
    table, problems = toml.read(body)
    faults = [(line + 1 + offset, message) for offset, message in problems]
    if not table:
        return None, faults or [(line, say("The block is empty."))]
    reader = Reader(body, line + 1, table, faults)
    reader.expect(kind)
    return _READERS[kind](reader, line, language), faults


def _lab(reader: Reader, line: int, language: str) -> LabBlock:
    params = reader.table.get("params", {})
    if not isinstance(params, dict):
        reader.fault("params", say("“{key}” must be a table.", key="params"))
        params = {}
    seed = reader.number("seed", 0)
    if seed != int(seed) or not 0 <= seed <= 9999:
        reader.fault("seed", say("The seed must be a whole number from 0 to 9999."))
        seed = 0
    asserts = tuple(_assertion(reader.inside(table, nth), nth) for nth, table in enumerate(reader.tables("assert")))
    return LabBlock(
        reader.text("id"), reader.text("name"), params, int(seed), reader.text("notice", needed=False), asserts, line
    )


def _assertion(reader: Reader, nth: int) -> Assertion:
    reader.expect("assert")
    bound = reader.table.get("bound")
    if bound is None or isinstance(bound, dict) or (isinstance(bound, float) and math.isnan(bound)):
        reader.fault("bound", say("The assertion needs a bound: a number, a text, a truth value or a list."))
        bound = 0.0
    line = reader.line + toml.line_of(reader.body, "assert", nth)
    relation = reader.one_of("relation", RELATIONS)
    tolerance = reader.tolerance()
    if relation == "~" and tolerance <= 0:
        reader.fault("relation", say("The relation ~ needs a tolerance greater than 0."))
    return Assertion(reader.text("value"), relation, bound, tolerance, line)


def _predict(reader: Reader, line: int, language: str) -> Predict:
    type_ = reader.one_of("type", PREDICT_TYPES)
    options = directions(language) if type_ == "direction" else _options(reader)
    return Predict(
        id=reader.text("id"),
        ask=reader.text("ask"),
        type=type_,
        options=options,
        answer=_answer(reader, options),
        answer_from=reader.text("answer_from", needed=False),
        tolerance=reader.tolerance(),
        explain=reader.text("explain"),
        unit=reader.text("unit", needed=False),
        line=line,
    )


def _quiz(reader: Reader, line: int, language: str) -> Quiz:
    options = _options(reader)
    accept = reader.table.get("accept", [])
    if not isinstance(accept, list) or not all(isinstance(word, str) for word in accept):
        reader.fault("accept", say("“{key}” must be a list of texts.", key="accept"))
        accept = []
    return Quiz(
        id=reader.text("id"),
        type=reader.one_of("type", QUIZ_TYPES),
        ask=reader.text("ask"),
        options=options,
        answer=_answer(reader, options),
        answer_from=reader.text("answer_from", needed=False),
        tolerance=reader.tolerance(),
        accept=tuple(accept),
        explain=reader.text("explain"),
        line=line,
    )


def _exercise(reader: Reader, line: int, language: str) -> Exercise:
    return Exercise(reader.text("id"), reader.text("signature", False), reader.text("statement", False), line)


def _options(reader: Reader) -> tuple[Option, ...]:
    """Read the options; an option without a value is known by its position in the file."""
    options = []
    for nth, table in enumerate(reader.tables("options")):
        inner = reader.inside(table, 0)
        inner.expect("options")
        right = table.get("right", False)
        if not isinstance(right, bool):
            reader.fault("options", say("“right” is true or false."))
        value = table.get("value", str(nth + 1))
        options.append(Option(_option_text(reader, table, "text"), str(value), right is True, _why(reader, table)))
    return tuple(options)


def _option_text(reader: Reader, table: Mapping[str, Any], key: str) -> str:
    text = table.get(key)
    if isinstance(text, str) and text.strip() and not toml.CONTROL.search(text):
        return text.strip()
    reader.fault("options", say("An option has no “{key}”, or one that is no plain text.", key=key))
    return ""


def _why(reader: Reader, table: Mapping[str, Any]) -> str:
    return _option_text(reader, table, "why") if "why" in table else ""


def _answer(reader: Reader, options: tuple[Option, ...]) -> Answer:
    """Return the answer written in the file: the right options' values, a number, a text, or the blanks of a shape."""
    right = tuple(option.value for option in options if option.right)
    if right:
        return right[0] if len(right) == 1 else right
    answer = reader.table.get("answer")
    if isinstance(answer, str) and reader.table.get("type") == "shape":
        return read_shape(answer)
    if isinstance(answer, bool):
        return str(answer).lower()
    if answer is None or isinstance(answer, (str, int, float)):
        return answer
    if isinstance(answer, list) and all(isinstance(blank, (str, int)) for blank in answer):
        return tuple(str(blank) for blank in answer)
    reader.fault("answer", say("“{key}” must be a number, a text or a list of blanks.", key="answer"))
    return None


def directions(language: str) -> tuple[Option, ...]:
    """Return the three directions a value can take."""
    words = (("up", say("it grows")), ("down", say("it shrinks")), ("same", say("it stays the same")))
    return tuple(Option(translate(text, language), value) for value, text in words)


_READERS: dict[str, Callable[[Reader, int, str], Block]] = {
    "lab": _lab,
    "predict": _predict,
    "quiz": _quiz,
    "exercise": _exercise,
}
KINDS = tuple(_READERS)
