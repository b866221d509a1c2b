"""How a command ends when it cannot do what was asked."""

from __future__ import annotations

from engine.contract.message import Message

USAGE, ENGINE, INTERNAL, UNWRITABLE, INTERRUPTED, UNREAD = 2, 69, 70, 74, 130, 141
"""Exit codes: wrong command or input; the engine failed; the tutor failed; output cannot be written; Ctrl+C; nobody
reads on."""


class CommandError(Exception):
    """A command that failed: `message` for the learner, `code` and `field` for programs, `exit_code` for the shell."""

    exit_code = USAGE

    def __init__(self, message: Message, field: str = "", code: str = "usage") -> None:
        super().__init__(str(message))
        self.message = message
        self.field = field
        self.code = code


class UsageError(CommandError):
    """The command, or what it was given, is not right."""


class EngineError(CommandError):
    """The engine cannot start, or failed for no fault of the input."""

    exit_code = ENGINE


class Unwritable(CommandError):
    """A result cannot be written where it should go."""

    exit_code = UNWRITABLE
