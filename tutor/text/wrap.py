"""Line breaking for Chinese and English together, in place of Rich's, which knows only spaces.

The text is reduced to one letter per character that says how it behaves at a line's edge; a regular
expression over those letters finds the *units* that a line break must not enter:

    w  wide: an ideograph, an emoji; a line may break on either side
    n  narrow: part of a Latin word, number or symbol, which stay whole
    o  opens: （《“ and i, its ASCII kin ([{ ; no line ends with it
    c  closes: ，。）” and r, its ASCII kin )]} ; no line starts with it
    t  trails: . , % ’ … / ; as c after a wide character, but part of the word inside a Latin one
    s  white space, which hangs over the edge; g  no-break space
"""

from __future__ import annotations

import re
from itertools import accumulate
from types import ModuleType

import rich.text
from rich.cells import get_character_cell_size
from rich.text import Text

from tutor.text.width import cells, clusters

OPENING = "（［｛【〔〖《〈「『〘〝“‘＄￥￡"
CLOSING = "，。、；：？！）］｝】〕〗》〉」』〙〞〟”—％‰℃～〜ー々ゝヽ・．"
_KINDS = {
    "o": OPENING,
    "c": CLOSING,
    "i": "([{",
    "r": ")]}",
    "t": ".,:;?!%/’·…‥",
    "g": "\u00a0\u2007\u202f",
}

# A narrow run never ends in an opening bracket: `f(注` breaks before the bracket.
_SEGMENT = r"(?:[oi]+s*)*(?:[nitr]*[ntr]|w)?[ctr]*(?:s+[cr][ctr]*)*"
_UNIT = re.compile(rf"({_SEGMENT}(?:g+{_SEGMENT})*)s*")
_PIECE = re.compile(r"[nitr]+|.")
# Where a word too long for any line is best cut: `torch.nn.functional`, `https://…/…`.
_JOINTS = frozenset("-_/.,=&?:")


class _Kinds(dict[int, str]):
    """The letter of every character, for `str.translate`; those not listed are told by their width."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = "s" if char.isspace() else "w" if get_character_cell_size(char) == 2 else "n"
        self[code] = kind
        return kind


_KIND_OF = _Kinds({ord(char): kind for kind, chars in _KINDS.items() for char in chars})


class _Line:
    """A line being filled: clusters `start` and on, and the breaks made so far."""

    def __init__(self, widths: list[int], width: int) -> None:
        self.edges = [0, *accumulate(widths)]
        self.width = width
        self.start = 0
        self.breaks: list[int] = []

    def holds(self, end: int) -> bool:
        return self.edges[end] - self.edges[self.start] <= self.width

    def fits_alone(self, first: int, end: int) -> bool:
        return self.edges[end] - self.edges[first] <= self.width

    def begin(self, first: int) -> None:
        if first > self.start:
            self.breaks.append(first)
            self.start = first


def divide_line(text: str, width: int, fold: bool = True) -> list[int]:
    """The indices at which to break the text into lines of at most `width` cells, trailing space apart.

    A word that fits a line is never split, nor a character and its accents. With `fold` a longer word is
    cut; without, it is left to overflow. No breaks when `width` is less than one cell.
    """
    if width < 1 or cells(text) <= width:
        return []
    spans = clusters(text)
    kinds = "".join([text[start] for start, _, _ in spans]).translate(_KIND_OF)
    line = _Line([size for _, _, size in spans], width)
    for unit in _UNIT.finditer(kinds):
        first, end = unit.span(1)
        if first == end or line.holds(end):
            continue
        line.begin(first)
        if line.fits_alone(first, end):
            continue
        for piece in _PIECE.finditer(kinds, first, end):
            _place(line, piece.start(), piece.end(), text if fold else None, spans)
    return [spans[index][0] for index in line.breaks]


def _place(line: _Line, first: int, end: int, text: str | None, spans: list[tuple[int, int, int]]) -> None:
    """Put one piece of a unit wider than a line; `text` is None where words may not be cut."""
    if line.holds(end):
        return
    if text is None or line.fits_alone(first, end):
        line.begin(first)
        return
    for index in range(first, end):
        while not line.holds(index + 1) and index > line.start:
            line.begin(_best_cut(line, index, first, text, spans))


def _best_cut(line: _Line, index: int, first: int, text: str, spans: list[tuple[int, int, int]]) -> int:
    """The last joint in the second half of a full line, else where it is full."""
    earliest = max(first, line.start, (line.start + index) // 2)
    for cut in range(index, earliest, -1):
        if text[spans[cut - 1][0]] in _JOINTS:
            return cut
    return index


def least_width(text: str) -> int:
    """The cells of the longest stretch that a line break may not enter."""
    spans = clusters(text)
    edges = [0, *accumulate(size for _, _, size in spans)]
    kinds = "".join([text[start] for start, _, _ in spans]).translate(_KIND_OF)
    return max((edges[unit.end(1)] - edges[unit.start(1)] for unit in _UNIT.finditer(kinds)), default=0)


def wrap(text: Text, width: int) -> list[Text]:
    """The lines of the text, styles kept, trailing space dropped."""
    lines: list[Text] = []
    for paragraph in text.split("\n", allow_blank=True):
        for line in paragraph.divide(divide_line(paragraph.plain, width)):
            line.rstrip()
            lines.append(line)
    return lines


def install_rich() -> None:
    """Make every Rich text and table break lines our way."""
    rich.text.divide_line = divide_line  # type: ignore[attr-defined]


def install_textual(content: ModuleType) -> None:
    """Make every Textual widget break lines our way; the app passes `textual.content`."""
    content.divide_line = divide_line  # type: ignore[attr-defined]
