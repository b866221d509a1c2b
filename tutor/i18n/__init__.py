"""Messages in the learner's language: English sentences are the ids, Chinese comes from `zh/*.toml` on first use."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.contract.message import Message, fill
from tutor.start_cache import StartCache

LANGUAGES = ("zh", "en")


def translate(message: Message, language: str) -> str:
    """Return the sentence of `message` in `language`, its fields filled; nested messages are translated too.

    A sentence without a translation is shown in English (a test keeps the catalogue complete).
    """
    pattern = catalogue().get(message.id, message.id) if language == "zh" else message.id
    values = {
        name: translate(value, language) if isinstance(value, Message) else value
        for name, value in message.values.items()
    }
    return fill(pattern, values)


_known: dict[str, str] = {}


def catalogue(cache: StartCache | None = None) -> dict[str, str]:
    """Return the Chinese catalogue, English sentence → Chinese sentence, read once (from `cache`, if it is there)."""
    if not _known:
        kept = cache.recall(dict[str, str], "zh") if cache else None
        _known.update(kept or _read())
        if cache and not kept:
            cache.keep(dict[str, str], _known, "zh")
    return _known


def _read() -> dict[str, str]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # the same parser, before Python 3.11

    merged: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / "zh").glob("*.toml")):
        merged.update(tomllib.loads(path.read_text("utf-8")))
    return merged
