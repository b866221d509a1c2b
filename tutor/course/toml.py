"""TOML as lesson packs write it: literal strings for text, line numbers for every complaint."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from engine.contract.message import Message, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same parser, before Python 3.11

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_STRING = re.compile(
    r"#[^\n]*|'''.*?'''|'[^'\n]*'|\"\"\"(?P<long>.*?)\"\"\"|\"(?P<short>(?:\\.|[^\"\\\n])*)\"", re.DOTALL
)
_DIGITS = re.compile(r"\b[0-9][0-9a-fA-Fxob_]{16,}")
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")


def read(body: str) -> tuple[dict[str, Any], list[tuple[int, Message]]]:
    """Return the table in `body` and what is wrong with it, as (line from 0, message) pairs."""
    faults = list(_backslashes(body))
    try:
        table = tomllib.loads(body)
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: 5,000 digits, 1,000 brackets
        where = _AT_LINE.search(str(error))
        line = int(where[1]) - 1 if where and where[1] else body.rstrip().count("\n")
        reason = _AT_LINE.sub("", str(error))
        return {}, faults or [(line, say("This is not TOML: {reason}.", reason=reason.rstrip(".")))]
    if _too_large(table):
        digits = _DIGITS.search(body)
        line = body.count("\n", 0, digits.start()) if digits else 0
        return {}, [*faults, (line, say("A whole number takes more than the 64 bits that TOML allows."))]
    return table, faults


def line_of(body: str, key: str, occurrence: int = 0) -> int:
    """Return the line (from 0) on which `key` is set for the n-th time; 0 when it is not found."""
    found = _lines_of(body, key)
    return found[occurrence] if occurrence < len(found) else 0


@lru_cache(maxsize=16)
def _lines_of(body: str, key: str) -> list[int]:
    """Return the lines on which `key` is set; a reader asks for them once for every table of a list."""
    pattern = rf"^\s*\"?{re.escape(key)}\"?\s*=|^\s*\[+\s*{re.escape(key)}\s*\]+"
    return [body.count("\n", 0, found.end()) for found in re.finditer(pattern, body, re.MULTILINE)]


def _too_large(value: object) -> bool:
    """Tell whether a whole number in `value` takes more than 64 bits; neither cache nor engine could carry it."""
    if isinstance(value, dict):
        return any(map(_too_large, value.values()))
    if isinstance(value, list):
        return any(map(_too_large, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _backslashes(body: str) -> Iterator[tuple[int, Message]]:
    """Refuse a backslash in a basic string: `"\\frac"` would silently become a form feed and "rac"."""
    for found in _STRING.finditer(body):
        for name in ("long", "short"):
            text = found[name]
            if text and "\\" in text:
                line = body.count("\n", 0, found.start(name) + text.index("\\"))
                yield line, say("A backslash stands in a basic string; write the text in single quotes: '…'.")
