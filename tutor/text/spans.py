"""Running text: the inline nodes of a Markdown tree to one styled Rich text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from tutor.text import styles
from tutor.text.extract import PLACE, Extract, blank, fill_tex
from tutor.text.markdown import is_chinese
from tutor.text.width import cells, clean

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

Run = tuple[str, tuple[str, ...]]

_STYLE_OF = {"strong": styles.STRONG, "em": styles.EMPHASIS, "link": styles.LINK}
_SOFT_BREAK = "\x00"
# A formula no wider than this stays on one line; a longer one may break at its spaces.
_WHOLE = 20


class Spans:
    """Turns inline nodes into text; knows the pieces that were taken out of it and what they show."""

    def __init__(self, extract: Extract, quotes: Mapping[str, str], show_tex: bool) -> None:
        self.extract = extract
        self.quotes = quotes
        self.show_tex = show_tex

    def text(self, nodes: Iterable[SyntaxTreeNode], displays: bool = False) -> Text:
        """The nodes as styled text; with `displays` the places of display formulas stay in it."""
        text = Text()
        runs = [run for node in nodes for run in self._runs(node, (), displays)]
        for index, (shown, names) in enumerate(runs):
            if shown == _SOFT_BREAK:
                following = runs[index + 1][0] if index + 1 < len(runs) else ""
                shown = "" if _joins(text.plain[-1:], following[:1]) else " "
            start = len(text)
            text.append(shown)
            for name in names:
                text.stylize(name, start)
        return text

    def tex(self, body: str) -> str:
        """The TeX of a formula with its quotes filled in."""
        return fill_tex(body, self.quotes)

    def inline_formula(self, body: str) -> str:
        """The formula in one line; its TeX between dollars when that is asked for, or all there is."""
        from tutor.text.formula import FormulaError, inline

        tex = self.tex(body)
        if self.show_tex:
            return f"${tex}$"
        try:
            shown = clean(inline(tex))
        except FormulaError:
            return f"${tex}$"
        return shown.replace(" ", "\u00a0") if cells(shown) <= _WHOLE else shown

    def _runs(self, node: SyntaxTreeNode, names: tuple[str, ...], displays: bool) -> Iterable[Run]:
        if node.type in ("softbreak", "hardbreak"):
            yield (_SOFT_BREAK if node.type == "softbreak" else "\n"), names
        elif node.type == "code_inline":
            yield clean(self.extract.put_back(node.content)), (*names, styles.CODE)
        elif node.type == "text":
            yield from self._pieces(node.content, names, displays)
        else:
            style = _STYLE_OF.get(node.type)
            inner = (*names, style) if style else names
            for child in node.children:
                yield from self._runs(child, inner, displays)
            if node.type == "link":
                yield from _address(node, names)

    def _pieces(self, content: str, names: tuple[str, ...], displays: bool) -> Iterable[Run]:
        start = 0
        for place in PLACE.finditer(content):
            if before := clean(content[start : place.start()]):
                yield before, names
            yield self._piece(place.group(), names, displays)
            start = place.end()
        if rest := clean(content[start:]):
            yield rest, names

    def _piece(self, place: str, names: tuple[str, ...], displays: bool) -> Run:
        piece = self.extract.piece(place)
        if piece.kind == "quote":
            value = self.quotes.get(piece.body)
            return (clean(value), names) if value is not None else (blank(piece.body), (*names, styles.MUTED))
        if piece.kind == "display" and displays:
            return place, names
        return self.inline_formula(piece.body), (*names, styles.FORMULA)


def _address(link: SyntaxTreeNode, names: tuple[str, ...]) -> Iterable[Run]:
    """Where a link leads, when that can be typed into a browser and the text does not say it already."""
    address = clean(str(link.attrs.get("href", "")))
    said = "".join(node.content for node in link.walk() if node.type == "text")
    if address.startswith(("http://", "https://")) and address != said:
        yield f" ({address})", (*names, styles.MUTED)


def _joins(before: str, after: str) -> bool:
    """Whether two lines of the source join without a space, given the characters at their ends."""
    if not before or not after or before.isspace():
        return True
    if is_chinese(before) and is_chinese(after):
        return True
    return any(cells(char) == 2 and unicodedata.category(char)[0] == "P" for char in (before, after))
