"""How wide text is in a terminal, and how to cut, pad and clean it without breaking a character.

Widths are Rich's, because Rich and Textual lay everything else out with them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from rich.cells import cell_len, split_graphemes

Align = Literal["left", "center", "right"]
Cluster = tuple[int, int, int]

_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]{2}")

# What may carry a variation selector or be joined: © ® ‼ … ㊙ and the emoji planes; digits only as key caps.
_PICTURE = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_NEWLINE = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")
# Invisible though Python calls them printable: fillers, joiners of marks, variation selectors.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
_SELECTORS = [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
_INVISIBLE = frozenset(_FILLERS).union(map(chr, _SELECTORS))


def cells(text: str) -> int:
    """The number of terminal cells the text takes."""
    return cell_len(text)


def clusters(text: str) -> list[Cluster]:
    """The (start, end, cells) of every piece of the text that must stay whole: a letter with its accents, an emoji."""
    if text.isascii():
        return [(index, index + 1, int(char.isprintable())) for index, char in enumerate(text)]
    spans = split_graphemes(text)[0]
    flags = {match.start(): match.end() for match in _FLAG_LETTERS.finditer(text)}
    return _join_flags(spans, flags) if flags else spans


def _join_flags(spans: list[Cluster], flags: dict[int, int]) -> list[Cluster]:
    """Rich counts the two letters of a flag apart; a line or a cut must not part them."""
    joined: list[Cluster] = []
    for start, end, size in spans:
        previous = joined[-1] if joined else None
        if previous is not None and flags.get(previous[0], 0) > start:
            joined[-1] = (previous[0], end, previous[2] + size)
        else:
            joined.append((start, end, size))
    return joined


def cut(text: str, width: int) -> str:
    """The text itself when it fits `width` cells, else its beginning and `…`, never wider than `width`."""
    if cells(text) <= width:
        return text
    if width < 1:
        return ""
    used, kept = 1, 0
    for _, end, size in clusters(text):
        if used + size > width:
            break
        used, kept = used + size, end
    return text[:kept] + "…"


def pad(text: str, width: int, align: Align = "left") -> str:
    """The text in exactly `width` cells, cut when it is longer."""
    shown = cut(text, width)
    room = max(0, width - cells(shown))
    if align == "left":
        return shown + " " * room
    if align == "right":
        return " " * room + shown
    return " " * (room // 2) + shown + " " * (room - room // 2)


def clean(text: str) -> str:
    """One line that can do nothing to a terminal: line ends and tabs become spaces, controls disappear.

    Removed are control characters (C0, C1), lone surrogates, bidirectional overrides, and invisible
    characters except the joiners and selectors inside an emoji.
    """
    if text.isprintable() and _INVISIBLE.isdisjoint(text):
        return text
    return _controls().sub("", _NEWLINE.sub(" ", text))


@lru_cache(maxsize=1)
def _controls() -> re.Pattern[str]:
    """What `clean` removes, compiled when first met: it takes milliseconds, and honest text needs none of it."""
    return re.compile(
        f"[{_FILLERS}\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
        "\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
        rf"|[\ufe00-\ufe0d]|(?<![{_PICTURE}0-9#*])[\ufe0e\ufe0f]"
        rf"|\u200d(?![{_PICTURE}])|(?<![{_PICTURE}])(?<![{_PICTURE}]\ufe0f)\u200d"
    )
