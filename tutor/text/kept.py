"""Laid-out prose in the start cache: its lines are there before Markdown or a formula could be read."""

from __future__ import annotations

from rich.text import Span, Text

from tutor.start_cache import StartCache

Line = tuple[str, list[tuple[int, int, str]]]
"""The characters of a line and its styled stretches (start, end, style name)."""


def recall_lines(cache: StartCache, *made_from: object) -> list[Text] | None:
    """Return the lines that were laid out from these inputs, or None."""
    known = cache.recall(list[Line], *made_from)
    if known is None:
        return None
    return [Text(plain, spans=[Span(*span) for span in spans]) for plain, spans in known]


def keep_lines(cache: StartCache, lines: list[Text], *made_from: object) -> None:
    """Remember laid-out lines, whose styles are all named."""
    kept = [(line.plain, [(start, end, str(style)) for start, end, style in line.spans]) for line in lines]
    cache.keep(list[Line], kept, *made_from)
