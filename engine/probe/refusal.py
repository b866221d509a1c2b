"""Why a learner's file cannot be looked at."""

from __future__ import annotations

from engine.contract.message import Message


class Refused(Exception):
    """Raised with the one sentence a learner reads; `field` is what it is about: "file", "name" or "text"."""

    def __init__(self, message: Message, field: str = "file") -> None:
        super().__init__(str(message))
        self.message = message
        self.field = field
