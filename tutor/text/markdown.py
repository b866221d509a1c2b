"""Markdown to a tree, with emphasis that works in Chinese."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tutor.text.width import cells

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.tree import SyntaxTreeNode

_CHINESE_MARKS = frozenset("“”‘’…—")


def parse(source: str) -> SyntaxTreeNode:
    """The tree of a Markdown text: CommonMark and tables, HTML as plain text."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(source))


def parse_line(source: str) -> SyntaxTreeNode:
    """The tree of one line, which holds no blocks: `# x` and `1. x` are only text."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parseInline(source))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


def is_chinese(char: str) -> bool:
    """Whether the character is written without spaces around it: an ideograph or a mark of Chinese text."""
    return char in _CHINESE_MARKS or cells(char) == 2


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Read a run of `*` or `_` (rule of markdown-it's inline parser).

    CommonMark does not close `**注意力（attention）**是`, because a letter follows a bracket: it expects
    a space there, which Chinese does not write.
    """
    from markdown_it.rules_inline.state_inline import Delimiter

    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    end = state.pos
    while end < state.posMax and state.src[end] == marker:
        end += 1
    before = state.src[state.pos - 1] if state.pos else " "
    after = state.src[end] if end < state.posMax else " "
    opens, closes = _touches(after, before), _touches(before, after)
    if marker == "_":
        opens, closes = opens and (not closes or _is_mark(before)), closes and (not opens or _is_mark(after))
    length = end - state.pos
    for _ in range(length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(Delimiter(ord(marker), length, len(state.tokens) - 1, -1, opens, closes))
    state.pos = end
    return True


def _touches(inner: str, outer: str) -> bool:
    """Whether a run of markers between these characters may hold on to the inner one."""
    if inner.isspace():
        return False
    return not _is_mark(inner) or is_chinese(inner) or outer.isspace() or _is_mark(outer) or is_chinese(outer)


def _is_mark(char: str) -> bool:
    from markdown_it.common.utils import isMdAsciiPunct, isPunctChar

    return isMdAsciiPunct(ord(char)) or isPunctChar(char)
