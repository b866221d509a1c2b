"""The kinds of parameter a lab can have: integer, real, choice, choices, boolean, text, numbers.

Each kind reads a value (of its own type, or the text a learner typed) and returns the value or the reason it is
refused. A kind also holds what a form needs: a label, a range, the options and their labels.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import msgspec

from engine.contract.message import Message, say

_TRUE = {"true", "yes", "on", "1", "是", "开"}
_FALSE = {"false", "no", "off", "0", "否", "关"}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Soft hyphen, zero-width space, direction marks, word joiner, byte order mark: pasted along, never meant.
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")


class Integer(msgspec.Struct, frozen=True):
    """A whole number from `minimum` to `maximum`, in steps of `step` from the minimum."""

    label: Message
    minimum: int
    maximum: int
    step: int = 1

    def read(self, value: object) -> int | Message:
        """Return the number, or why it is refused."""
        number = _number(value)
        if number is None or number != int(number):
            return say("{label} takes a whole number, not “{value}”.", label=self.label, value=shown(value))
        whole = int(number)
        if not self.minimum <= whole <= self.maximum:
            return say(
                "{label} is {value}, but it must lie between {minimum} and {maximum}.",
                label=self.label,
                value=whole,
                minimum=self.minimum,
                maximum=self.maximum,
            )
        if (whole - self.minimum) % self.step:
            return say(
                "{label} is {value}, but it goes from {minimum} in steps of {step}.",
                label=self.label,
                value=whole,
                minimum=self.minimum,
                step=self.step,
            )
        return whole


class Real(msgspec.Struct, frozen=True):
    """A real number from `minimum` to `maximum`; a form moves along `scale`."""

    label: Message
    minimum: float
    maximum: float
    scale: Literal["linear", "log"] = "linear"

    def read(self, value: object) -> float | Message:
        """Return the number, or why it is refused."""
        number = _number(value)
        if number is None:
            return say("{label} takes a number, not “{value}”.", label=self.label, value=shown(value))
        if not self.minimum <= number <= self.maximum:
            return say(
                "{label} is {value}, but it must lie between {minimum} and {maximum}.",
                label=self.label,
                value=number,
                minimum=self.minimum,
                maximum=self.maximum,
            )
        return number


Option = int | str


class Choice(msgspec.Struct, frozen=True):
    """One of `options` (numbers or short ids); `labels` are what a learner reads, in the same order."""

    label: Message
    options: tuple[Option, ...]
    labels: tuple[Message, ...] = ()

    def read(self, value: object) -> Option | Message:
        """Return the option, or why it is refused."""
        for option in self.options:
            if value == option and not isinstance(value, bool):
                return option
            if isinstance(value, str) and value.strip() == str(option):
                return option
        return say(
            "{label} cannot be “{value}”; choose one of: {options}.",
            label=self.label,
            value=shown(value),
            options=", ".join(map(str, self.options)),
        )

    def option_label(self, option: Option) -> Message | str:
        """Return what a learner reads for `option`."""
        return self.labels[self.options.index(option)] if self.labels else str(option)


class Choices(msgspec.Struct, frozen=True):
    """A subset of `options`, at least one, kept in the declared order."""

    label: Message
    options: tuple[str, ...]
    labels: tuple[Message, ...] = ()

    def read(self, value: object) -> tuple[str, ...] | Message:
        """Return the chosen options, or why they are refused; text is split at commas."""
        if isinstance(value, str):
            chosen = [part.strip() for part in value.replace("，", ",").split(",") if part.strip()]
        elif isinstance(value, (list, tuple)):
            chosen = [str(part) for part in value]
        else:
            chosen = [shown(value)]
        for part in chosen:
            if part not in self.options:
                return say(
                    "{label} cannot include “{value}”; choose from: {options}.",
                    label=self.label,
                    value=shown(part),
                    options=", ".join(self.options),
                )
        if not chosen:
            return say("{label} needs at least one of: {options}.", label=self.label, options=", ".join(self.options))
        return tuple(option for option in self.options if option in chosen)

    def option_label(self, option: str) -> Message | str:
        """Return what a learner reads for `option`."""
        return self.labels[self.options.index(option)] if self.labels else option


class Boolean(msgspec.Struct, frozen=True):
    """On or off."""

    label: Message

    def read(self, value: object) -> bool | Message:
        """Return the truth value, or why it is refused."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().lower() in _TRUE | _FALSE:
            return value.strip().lower() in _TRUE
        return say("{label} is on or off, not “{value}”.", label=self.label, value=shown(value))


class Text(msgspec.Struct, frozen=True):
    """Text the learner types, with one default per language. The field's own default is the empty string."""

    label: Message
    zh: str
    en: str
    most: int = 2000

    def default(self, language: str) -> str:
        """Return the default for "zh" or "en"."""
        return self.zh if language == "zh" else self.en

    def read(self, value: object) -> str | Message:
        """Return the text with runs of white space as one space and nothing unseen, or why it is refused."""
        if not isinstance(value, str):
            return say("{label} takes text, not “{value}”.", label=self.label, value=shown(value))
        if len(value) > self.most:
            return say(
                "{label} has {length:,} characters; at most {most:,} are taken.",
                label=self.label,
                length=len(value),
                most=self.most,
            )
        if _SURROGATE.search(value):
            return say("{label} holds bytes that are not UTF-8 text; save it as UTF-8.", label=self.label)
        if found := _CONTROL.search(value):
            return say(
                "{label} holds the control character {code} at position {position}; remove it.",
                label=self.label,
                code=f"U+{ord(found.group()):04X}",
                position=found.start() + 1,
            )
        return " ".join(_UNSEEN.sub("", value).split())


class Numbers(msgspec.Struct, frozen=True):
    """A vector, a matrix, or a permutation of 0 … n−1; empty means "let the lab choose".

    Text is written as rows separated by `;` and numbers by spaces or commas: "1 0; 0 1; 1 1".
    """

    label: Message
    shape: Literal["vector", "matrix", "permutation"]
    most_rows: int = 1
    most_columns: int = 64
    limit: float = 1e6

    def read(self, value: object) -> tuple[Any, ...] | Message:
        """Return a tuple of numbers (of rows, for a matrix), or why it is refused."""
        rows = _rows(value)
        if rows is None:
            return say(
                "{label} takes numbers such as “1 0; 0 1”, not “{value}”.",
                label=self.label,
                value=shown(value),
            )
        if rows and (refusal := self._refusal(rows)):
            return refusal
        if self.shape == "matrix":
            return tuple(tuple(row) for row in rows)
        flat = rows[0] if rows else ()
        return tuple(int(x) for x in flat) if self.shape == "permutation" else tuple(flat)

    def _refusal(self, rows: list[tuple[float, ...]]) -> Message | None:
        widths = sorted({len(row) for row in rows})
        if len(widths) > 1:
            return say(
                "{label} has rows of {shortest} and of {longest} numbers; all rows must be equally long.",
                label=self.label,
                shortest=widths[0],
                longest=widths[-1],
            )
        most_rows = self.most_rows if self.shape == "matrix" else 1
        if len(rows) > most_rows or widths[0] > self.most_columns:
            return say(
                "{label} is {rows} × {columns}; at most {most_rows} × {most_columns} is taken.",
                label=self.label,
                rows=len(rows),
                columns=widths[0],
                most_rows=most_rows,
                most_columns=self.most_columns,
            )
        if any(not math.isfinite(x) or abs(x) > self.limit for row in rows for x in row):
            return say(
                "{label} takes finite numbers between −{limit:g} and {limit:g}.",
                label=self.label,
                limit=self.limit,
            )
        if self.shape == "permutation" and sorted(rows[0]) != list(range(len(rows[0]))):
            return say("{label} must hold each of 0 … {last} exactly once.", label=self.label, last=len(rows[0]) - 1)
        return None


Kind = Integer | Real | Choice | Choices | Boolean | Text | Numbers


def shown(value: object) -> str:
    """Return `value` as it may be quoted in a sentence: one line, at most 40 characters, nothing invisible."""
    text = _SURROGATE.sub(
        "�", _CONTROL.sub("�", " ".join(str(value).split()) if len(str(value)) < 10_000 else str(value)[:60])
    )
    return text if len(text) <= 40 else text[:39] + "…"


def _number(value: object) -> float | None:
    """Return a finite number, or None; a whole number stays exact."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if len(value) > 100:
            return None
        text = value.strip().replace("−", "-")
        try:
            value = int(text)
        except ValueError:
            try:
                value = float(text)
            except ValueError:
                return None
    if not isinstance(value, (int, float)) or abs(value) > 1e300 or math.isnan(value):
        return None
    return value


def _rows(value: object) -> list[tuple[float, ...]] | None:
    """Return rows of numbers from text, a flat list or nested lists; None when something is no number."""
    if isinstance(value, str):
        if len(value) > 100_000:
            return None
        lines = [line for line in re.split(r"[;；\n]", value.strip().strip("[]()")) if line.strip()]
        raw: list[Any] = [re.split(r"[\s,，]+", line.strip().strip("[](), ")) for line in lines]
    elif isinstance(value, (list, tuple)):
        nested = bool(value) and all(isinstance(row, (list, tuple)) for row in value)
        raw = list(value) if nested else ([value] if value else [])
    else:
        return None
    rows = []
    for line in raw:
        numbers = [_number(x) for x in line]
        if not numbers or any(number is None for number in numbers):
            return None
        rows.append(tuple(number for number in numbers if number is not None))
    return rows
