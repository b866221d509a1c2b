"""One block of a lesson: Markdown with formulas to styled lines of a given width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from tutor.text import styles
from tutor.text.extract import PLACE, take_out
from tutor.text.markdown import parse
from tutor.text.spans import Spans
from tutor.text.styles import styled
from tutor.text.tables import table
from tutor.text.width import Align, cells, clean
from tutor.text.wrap import wrap

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_NO_QUOTES: Mapping[str, str] = {}
_INDENT = 2
# Lists and quotes nested too deep for their width overflow it rather than become a column of letters.
_NARROWEST = 8
_BULLETS = "•–"


def render(
    source: str,
    width: int,
    *,
    quotes: Mapping[str, str] = _NO_QUOTES,
    show_tex: bool = False,
    formula_width: int = 56,
) -> list[Text]:
    """The lines of a lesson's Markdown in `width` cells; spans carry style names of `tutor.text.styles`.

    `quotes` maps the inside of a `{{lab.value:.2f}}` to what it shows; one that is missing shows `…`.
    `show_tex` shows the source of every formula. Diagrams and other code keep their lines, however wide.
    """
    extract = take_out(source)
    layout = _Layout(Spans(extract, quotes, show_tex), formula_width)
    lines = layout.blocks(parse(extract.text).children, width)
    for line in lines:
        # No-break spaces have held formulas together; what is copied from the screen has plain ones.
        line.plain = line.plain.replace("\u00a0", " ")
    return lines


def plain(source: str, width: int, quotes: Mapping[str, str] = _NO_QUOTES) -> str:
    """The same lines without styles, for a pipe or a file."""
    return "\n".join(line.plain.rstrip() for line in render(source, width, quotes=quotes))


class _Layout:
    """Lays out blocks one under the other."""

    def __init__(self, spans: Spans, formula_width: int) -> None:
        self.spans = spans
        self.formula_width = formula_width

    def blocks(self, nodes: Sequence[SyntaxTreeNode], width: int, tight: bool = False) -> list[Text]:
        """The lines of the nodes, an empty line between two of them unless `tight`."""
        lines: list[Text] = []
        for node in nodes:
            block = self.block(node, max(width, _NARROWEST))
            if lines and block and not tight:
                lines.append(Text())
            lines += block
        return lines

    def block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        match node.type:
            case "heading":
                title = self.spans.text(node.children[0].children)
                title.stylize_before(styles.HEADING)
                return wrap(title, width)
            case "bullet_list" | "ordered_list":
                return self.list_items(node, width)
            case "blockquote":
                return self.block_quote(node, width)
            case "fence" | "code_block":
                return self.code(node, width)
            case "table":
                return self.table(node, width)
            case "hr":
                return [styled("─" * width, styles.MUTED)]
            case _:
                return self.paragraph(node, width)

    def paragraph(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """Text in lines, its display formulas between them on lines of their own."""
        text = self.spans.text(node.children[0].children, displays=True)
        places = list(PLACE.finditer(text.plain))
        parts = text.divide(sorted({edge for place in places for edge in place.span()}))
        lines: list[Text] = []
        for part in parts:
            if not part.plain.strip():
                continue
            if lines and places:
                lines.append(Text())
            if PLACE.fullmatch(part.plain):
                lines += self.display(self.spans.extract.piece(part.plain).body, width)
            else:
                lines += wrap(_stripped(part), width)
        return lines

    def display(self, body: str, width: int) -> list[Text]:
        """A formula in two dimensions; in one line, or as its source, where there is no room or no other way."""
        from tutor.text.formula import FormulaError, display

        tex = self.spans.tex(body)
        if self.spans.show_tex:
            return _indented(wrap(styled(tex, styles.FORMULA), width - _INDENT), width)
        try:
            rows = display(tex, min(self.formula_width, width))
        except FormulaError:
            return _indented(wrap(styled(self.spans.inline_formula(body), styles.FORMULA), width - _INDENT), width)
        return _indented([styled(clean(row), styles.FORMULA) for row in rows], width)

    def list_items(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        items = node.children
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
        if node.type == "ordered_list":
            room = len(str(first + len(items) - 1))
            markers = [f"{first + index:>{room}}. " for index in range(len(items))]
        else:
            depth = sum(1 for level in _ancestors(node) if level == "bullet_list")
            markers = [_BULLETS[depth % 2] + " "] * len(items)
        tight = all(child.hidden for item in items for child in item.children if child.type == "paragraph")
        lines: list[Text] = []
        for item, marker in zip(items, markers, strict=True):
            body = self.blocks(item.children, width - len(marker), tight) or [Text()]
            if lines and not tight:
                lines.append(Text())
            lines.append(Text.assemble((marker, styles.MUTED), body[0]))
            lines += [Text(" " * len(marker)).append_text(line) if line.plain else line for line in body[1:]]
        return lines

    def block_quote(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        lines = []
        for line in self.blocks(node.children, width - _INDENT):
            line.stylize_before(styles.QUOTE)
            lines.append(Text.assemble(("│ " if line.plain else "│", styles.MUTED), line))
        return lines

    def code(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """Code and diagrams, line for line."""
        style = "" if node.info.strip() == "text" else styles.CODE
        source = self.spans.extract.put_back(node.content).rstrip("\n")
        return _indented([styled(clean(line).rstrip(), style) for line in source.split("\n")], width)

    def table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        rows = [row for part in node.children for row in part.children]
        head, *body = [[self.spans.text(cell.children[0].children) for cell in row.children] for row in rows]
        return table(head, body, [_align(cell) for cell in rows[0].children], width)


def _indented(lines: list[Text], width: int) -> list[Text]:
    """The lines moved in from the edge, as one block, when that leaves room for the widest."""
    if max((cells(line.plain) for line in lines), default=0) + _INDENT > width:
        return lines
    return [Text(" " * _INDENT).append_text(line) if line.plain else line for line in lines]


def _stripped(text: Text) -> Text:
    start = len(text.plain) - len(text.plain.lstrip())
    stripped = text[start:] if start else text
    stripped.rstrip()
    return stripped


def _ancestors(node: SyntaxTreeNode) -> list[str]:
    names = []
    while node.parent is not None and not node.parent.is_root:
        node = node.parent
        names.append(node.type)
    return names


def _align(cell: SyntaxTreeNode) -> Align:
    style = str(cell.attrs.get("style", ""))
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"
