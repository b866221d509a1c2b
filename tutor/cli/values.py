"""The value of a parameter as it is given on a command line: itself, `@FILE`, or `-` for stdin."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import BinaryIO

from engine.contract.kinds import Kind, Numbers, Text
from engine.contract.message import Message, say
from tutor.cli.errors import UsageError

_NUMBERS_LENGTH = 100_000
_WORD_LENGTH = 200
_BYTES_PER_CHARACTER = 4


class Values:
    """Reads the values of one command; stdin can be read once."""

    def __init__(self) -> None:
        self._stdin_for = ""

    def read(self, field: str, kind: Kind, given: str) -> str:
        """Return the text that `given` stands for; `@@…` is a value that begins with @. Raises UsageError."""
        if given.startswith("@@"):
            return given[1:]
        if given == "-":
            if self._stdin_for:
                raise _refused(
                    field, say("stdin has already been read for {other}; use @FILE here.", other=self._stdin_for)
                )
            self._stdin_for = field
            return _text(field, kind, "stdin", sys.stdin.buffer)
        if given.startswith("@"):
            return _file(field, kind, given[1:])
        return given


def _file(field: str, kind: Kind, name: str) -> str:
    try:
        with Path(name).expanduser().open("rb") as file:
            return _text(field, kind, name[:300], file)
    except (OSError, ValueError, RuntimeError) as error:  # no such file; a NUL in the name; no home for ~
        raise _refused(
            field,
            say(
                "{label}: the file {file} cannot be read: {reason}.",
                label=kind.label,
                file=name[:300],
                reason=why_unreadable(error),
            ),
        ) from None


def why_unreadable(error: Exception) -> Message | str:
    """Return why a file cannot be read, in words."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        return say("it does not exist")
    if number == errno.EACCES:
        return say("you may not read it")
    if number == errno.EISDIR:
        return say("it is a folder")
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _text(field: str, kind: Kind, name: str, source: BinaryIO) -> str:
    """Read little more than the longest value there can be, whatever the source holds."""
    most = kind.most if isinstance(kind, Text) else _NUMBERS_LENGTH if isinstance(kind, Numbers) else _WORD_LENGTH
    limit = most * _BYTES_PER_CHARACTER
    data = source.read(limit + 1)
    if len(data) > limit:
        raise _refused(
            field,
            say(
                "{label} takes at most {most:,} characters, but {file} holds more.",
                label=kind.label,
                most=most,
                file=name,
            ),
        )
    try:
        return data.decode("utf-8-sig").rstrip()
    except UnicodeDecodeError:
        raise _refused(
            field, say("{label}: {file} is not UTF-8 text; save it as UTF-8.", label=kind.label, file=name)
        ) from None


def _refused(field: str, message: Message) -> UsageError:
    return UsageError(message, field, "invalid")
