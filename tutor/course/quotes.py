"""Live numbers in prose: `{{hand.weights[0]:.4f}}` stands for a value of the run of the lab block `hand`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.contract.report import Scalar
from tutor.course.model import Quote, Values

QUOTE = re.compile(r"\{\{([^{}\n]*)\}\}")
_INNER = re.compile(r"\s*([a-z][a-z0-9-]*)\.([a-z_][a-z0-9_]*(?:\[\d+\])?)\s*(?::([^{}]*))?\s*\Z")
_INDEXED = re.compile(r"([a-z_][a-z0-9_]*)(?:\[(\d+)\])?\Z")


def find_quotes(source: str, line: int = 1) -> Iterator[Quote]:
    """Yield the quotes of `source`, whose first line is `line`; one that cannot be read has an empty `lab`."""
    for found in QUOTE.finditer(source):
        inner = found[1].strip()
        at = line + source.count("\n", 0, found.start())
        parts = _INNER.match(inner)
        if parts:
            yield Quote(inner, parts[1], parts[2], (parts[3] or "").strip(), at)
        else:
            yield Quote(inner, "", "", "", at)


def fill_quotes(source: str, values: Values) -> dict[str, str]:
    """Return for every quote of `source` whose run has been made (its inner text) the number to show."""
    shown = {}
    for quote in find_quotes(source):
        value = look_up(quote.value, values.get(quote.lab, {}))
        if value is not None:
            shown[quote.inner] = write(value, quote.format)
    return shown


def look_up(name: str, values: object) -> Scalar | None:
    """Return the value called `name` ("weights" or "weights[0]") of a run's values, or None when there is none."""
    parts = _INDEXED.match(name)
    if parts is None or not hasattr(values, "get"):
        return None
    value: Scalar | None = values.get(parts[1])
    if parts[2] is None:
        return value
    index = int(parts[2])
    return value[index] if isinstance(value, (list, tuple)) and index < len(value) else None


def write(value: Scalar, format_spec: str) -> str:
    """Write a value by its format specification; a list is written element by element.

    A number in an exponent format is written as by hand: 3e-5, and 0 for zero.
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(write(item, format_spec) for item in value)
    if isinstance(value, (bool, str)) or not accepts(format_spec, value):
        return str(value)
    text = format(value, format_spec)
    if value == 0 and "e" in text:
        return "0"
    if re.fullmatch(r"-0(\.0*)?", text):
        text = text[1:]
    return re.sub(r"e([+-])0*(\d)", lambda found: f"e{'-' if found[1] == '-' else ''}{found[2]}", text)


def accepts(format_spec: str, value: float) -> bool:
    """Tell whether `format_spec` can format a number, in no more digits than a line holds."""
    if re.search(r"\d{3}", format_spec):
        return False
    try:
        format(value, format_spec)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
