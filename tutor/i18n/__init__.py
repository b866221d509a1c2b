"""Messages in the learner's language: English sentences are the ids, Chinese comes from `zh/*.toml` on first use."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

from engine.contract.message import Message, fill

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same parser, before Python 3.11

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


@lru_cache(maxsize=1)
def catalogue() -> dict[str, str]:
    """Return the Chinese catalogue: English sentence → Chinese sentence."""
    merged: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / "zh").glob("*.toml")):
        merged.update(tomllib.loads(path.read_text("utf-8")))
    return merged
