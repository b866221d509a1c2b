"""The one exception of the formula renderer."""

from __future__ import annotations

from engine.contract.message import Message


class FormulaError(ValueError):
    """A formula that cannot be shown; `message` says in words what is wrong and where, ready for translation."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message
