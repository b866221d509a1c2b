"""Texts that a learner sees, before translation.

A text leaves the engine as `Message(id, values)`: the id is the English sentence with named fields, the values fill
the fields. Who shows it translates the id and then fills in the values; data (tokens, numbers) are never translated.
"""

from __future__ import annotations

from typing import Union

import msgspec

Value = Union[bool, int, float, str, "Message"]


class Message(msgspec.Struct, frozen=True):
    """An English sentence with named fields ("{n} tokens") and the values that fill them."""

    id: str
    values: dict[str, Value] = {}

    def __str__(self) -> str:
        """Return the sentence in English."""
        return fill(self.id, {name: str(v) if isinstance(v, Message) else v for name, v in self.values.items()})


def say(id: str, /, **values: Value) -> Message:
    """Build a message from an English sentence and the values of its fields.

    The sentence must stand here literally: a test collects these calls and asks for their translation.
    """
    return Message(id, values)


def fill(pattern: str, values: dict[str, bool | int | float | str]) -> str:
    """Fill the named fields of `pattern`; a pattern without values is returned as it stands (braces and all)."""
    return pattern.format(**values) if values else pattern
