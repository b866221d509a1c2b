"""Spaces between the things of a row: TeX's classes and rules, in cells (The TeXbook, chapters 17 and 18)."""

from __future__ import annotations

from collections.abc import Iterator

from tutor.text.formula.symbols import Kind
from tutor.text.formula.tree import (
    Accent,
    Fence,
    Fraction,
    Limits,
    Node,
    Root,
    Row,
    Scripts,
    Space,
    Span,
    Symbol,
)

# One cell between (left, right) in a line; the pairs in _ALWAYS also inside scripts.
_ALWAYS = {("ord", "op"), ("op", "ord"), ("op", "op"), ("close", "op"), ("inner", "op"), ("op", "inner")}
_PUNCTUATED = {("punct", right) for right in ("ord", "op", "rel", "open", "close", "punct", "inner")}
_AROUND = {
    (left, right)
    for sign in ("bin", "rel")
    for other in ("ord", "op", "open", "close", "inner")
    for left, right in ((sign, other), (other, sign))
}
_INNER = {("ord", "inner"), ("inner", "ord"), ("inner", "open"), ("inner", "inner"), ("close", "inner")}
_SIGNS = ("−", "+", "±", "∓", "¬")
_LINE = _ALWAYS | _PUNCTUATED | _AROUND | _INNER


def kinds(node: Node) -> tuple[Kind, Kind]:
    """The class a node shows to its left and to its right neighbour."""
    match node:
        case Symbol(kind=kind):
            kind = "ord" if kind == "bar" else kind
            return kind, kind
        case Scripts(base=base) | Limits(base=base):
            return kinds(base)
        case Fence():
            return "open", "close"
        case Fraction():
            return "inner", "inner"
        case _:
            return "ord", "ord"


def spaced(items: tuple[Node, ...], *, tight: bool) -> Iterator[tuple[int, Node, Kind]]:
    """Each visible thing of a row with the spaces before it and its class; `tight` inside scripts."""
    before: Node | None = None
    right_of_before: Kind | None = None
    explicit = 0
    visible = [item for item in items if not (isinstance(item, Row) and not item.items)]
    for index, item in enumerate(visible):
        if isinstance(item, Space):
            explicit = max(explicit, item.cells)
            continue
        left, right = kinds(item)
        if left == "bin" and not _is_binary(right_of_before, visible[index + 1 :]):
            left = right = "ord"
        space = 0
        if before is not None and right_of_before is not None:
            space = _between(before, right_of_before, item, left, tight)
        yield (max(space, explicit), item, left)
        before, right_of_before, explicit = item, right, 0
    if explicit:
        yield (explicit, Row(), "ord")


def _is_binary(before: Kind | None, following: list[Node]) -> bool:
    """A sign without something on both sides is not binary: −x, (+), ≤ −1."""
    if before is None or before in ("bin", "op", "rel", "open", "punct"):
        return False
    after = next((kinds(node)[0] for node in following if not isinstance(node, Space)), None)
    return after not in (None, "rel", "close", "punct")


def _between(before: Node, right: Kind, item: Node, left: Kind, tight: bool) -> int:
    if right == "ord" and isinstance(before, Symbol) and before.text in _SIGNS:
        return 0
    if left == "open" and right == "op" and _has_reach(before):
        return 1
    if tight:
        return int((right, left) in _ALWAYS)
    if (right, left) in _LINE:
        return 1
    return int((right, left) == ("ord", "ord") and _would_merge(before, item))


def _has_reach(operator: Node) -> bool:
    """Whether parentheses after an operator are not its argument list: ∑ (…), maxᵢ (…), but max(…), ln(…)."""
    if isinstance(operator, Scripts):
        return isinstance(operator.base, Symbol) and (operator.base.limits or _has_reach(operator.base))
    return isinstance(operator, Symbol) and not operator.text[:1].isalpha()


def _would_merge(before: Node, item: Node) -> bool:
    """Whether two neighbours would read as one: words, and a script that the next letter seems to belong to."""
    if not _letter_at(item, first=True):
        return False
    if isinstance(before, Scripts):
        return True
    return (_is_word(before) or _is_word(item)) and _letter_at(before, first=False)


def _is_word(node: Node) -> bool:
    if isinstance(node, Scripts):
        return _is_word(node.base)
    return isinstance(node, Symbol) and len(node.text) > 1 and node.text[:2].isalpha()


def _letter_at(node: Node, *, first: bool) -> bool:
    match node:
        case Symbol(text=text):
            return (text[:1] if first else text[-1:]).isalnum() or text in ("∂", "∇")
        case Scripts(base=base):
            return _letter_at(base, first=first) if first else True
        case Accent(body=body) | Span(body=body) | Limits(base=body):
            return _letter_at(body, first=first)
        case Row(items=items) if items:
            return _letter_at(items[0 if first else -1], first=first)
        case Root():
            return first
        case _:
            return False
