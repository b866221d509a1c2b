"""Files that a command sends to the engine: read here, whole, and not larger than a message may be."""

from __future__ import annotations

from pathlib import Path

from engine.contract.message import say
from tutor.cli.errors import UsageError
from tutor.cli.values import why_unreadable


def read_bytes(name: str, most: int) -> bytes:
    """Return a file's bytes; raise UsageError when it cannot be read or has more than `most`."""
    try:
        with Path(name).expanduser().open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError, RuntimeError) as error:  # no such file; a NUL in the name; no home for ~
        message = say("The file {file} cannot be read: {reason}.", file=name[:300], reason=why_unreadable(error))
        raise UsageError(message, "file", "invalid") from None
    if len(data) > most:
        message = say(
            "The file {file} is larger than {most:,} bytes, the most that is taken.", file=name[:300], most=most
        )
        raise UsageError(message, "file", "invalid")
    return data
