"""Formulas and `{{quotes}}` leave the text before Markdown is parsed, which would eat their `*` and `_`.

Each becomes one private character that Markdown treats as a letter; what it stands for is kept beside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tutor.text.width import cells, clean

_FIRST = 0xF0000
PLACE = re.compile("[\U000f0000-\U000ffffd]")

_QUOTE = r"\{\{\s*(?P<quote>[\w-]+\.[^{}\n]+?)\s*\}\}"
_NO_BLANK_LINE = r"(?!\n[ \t>]*\n)"
_TOKEN = re.compile(
    rf"""
      ^[ \t>]*(?P<fence>`{{3,}}|~{{3,}})[^`\n]*\n[\s\S]*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)
    | \\[\s\S]
    | (?P<ticks>`+)(?!`)(?:{_NO_BLANK_LINE}[\s\S])+?(?<!`)(?P=ticks)(?!`)
    | \$\$(?P<display>(?:\\[\s\S]|{_NO_BLANK_LINE}[^\\$])+?)\$\$
    | \$(?![\s$])(?P<inline>(?:\\[\s\S]|{_NO_BLANK_LINE}[^\\$])+?)(?<!\s)\$(?![\d$])
    | {_QUOTE}
    """,
    re.MULTILINE | re.VERBOSE,
)
_QUOTE_IN_TEX = re.compile(_QUOTE)
_QUOTED_LINE = re.compile(r"\n[ \t]*>[ \t]?")


@dataclass(frozen=True)
class Piece:
    """Something taken out of the text: `source` as it stood there, `body` without its delimiters."""

    kind: Literal["inline", "display", "quote"]
    source: str
    body: str


@dataclass(frozen=True)
class Extract:
    """A text with a private character in the place of every piece."""

    text: str
    pieces: tuple[Piece, ...]

    def piece(self, place: str) -> Piece:
        return self.pieces[ord(place) - _FIRST]

    def put_back(self, text: str) -> str:
        """The text as it was written, for code, in which nothing is a formula."""
        return PLACE.sub(lambda match: self.piece(match.group()).source, text)


def take_out(source: str) -> Extract:
    """Clean a Markdown source and take the formulas and quotes out of it; code and `\\$` stay."""
    lines = PLACE.sub("", source).replace("\r\n", "\n").expandtabs(4).split("\n")
    cleaned = "\n".join(map(clean, lines))
    pieces: list[Piece] = []

    def replace(match: re.Match[str]) -> str:
        piece = _piece(match)
        if piece is None:
            return match.group()
        pieces.append(piece)
        return chr(_FIRST + len(pieces) - 1)

    return Extract(_TOKEN.sub(replace, cleaned), tuple(pieces))


def _piece(match: re.Match[str]) -> Piece | None:
    source = match.group()
    if body := match["quote"]:
        return Piece("quote", source, body)
    if not (body := match["display"] or match["inline"]):
        return None
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    if match.string[line_start:].lstrip().startswith(">"):
        body = _QUOTED_LINE.sub("\n", body)
    if match["inline"]:
        return Piece("inline", source, " ".join(body.split()))
    return Piece("display", source, "\n".join(line.strip() for line in body.strip().split("\n")))


def fill_tex(tex: str, quotes: Mapping[str, str]) -> str:
    """The formula with its `{{quotes}}` filled in."""
    return _QUOTE_IN_TEX.sub(lambda match: quotes.get(match["quote"], r"\ldots "), tex)


def blank(quote: str) -> str:
    """`…` in the middle of the room that the number of `lab.value:.4f` will take, by no-break spaces."""
    _, _, spec = quote.partition(":")
    room = 1
    # Three digits ask for a number wider than a line: a slip, and formatting it could fill the memory.
    if not re.search(r"\d{3}", spec):
        for sample in (0.5, 10):
            try:
                # The tutor writes 3e-5, not 3e-05.
                room = cells(format(sample, spec).replace("e-0", "e-"))
                break
            except ValueError:
                continue
    return "…".center(room, "\u00a0")
