"""One line of text with its formulas: titles, questions, options, explanations."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from tutor.text.extract import take_out
from tutor.text.markdown import parse_line
from tutor.text.spans import Spans

_NO_QUOTES: Mapping[str, str] = {}


def line(source: str, *, quotes: Mapping[str, str] = _NO_QUOTES, show_tex: bool = False) -> Text:
    """The source on one line, for a caller that wraps it; spans carry the style names of prose."""
    extract = take_out(source.strip())
    text = Spans(extract, quotes, show_tex).text(parse_line(extract.text).children[0].children)
    text.plain = text.plain.replace("\n", " ").replace("\u00a0", " ")
    return text
