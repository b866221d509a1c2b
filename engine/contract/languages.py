"""Which language a typed text is in, for labs whose data exist in both."""

from __future__ import annotations

from engine.contract.kinds import Text


def language_of(text: str) -> str:
    """Return "en" for a text in ASCII, else "zh"."""
    return "en" if text.isascii() else "zh"


def in_language(kind: Text, text: str, language: str) -> str:
    """Return `text`, or the default of `language` ("zh" or "en") while `text` is still the default of the other one."""
    untouched = text in (kind.zh, kind.en) and language in ("zh", "en")
    return kind.default(language) if untouched else text
