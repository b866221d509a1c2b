"""The tree of a formula → one line of Unicode."""

from __future__ import annotations

import re
import unicodedata

from tutor.text.formula import symbols
from tutor.text.formula.spacing import kinds, spaced
from tutor.text.formula.symbols import Kind
from tutor.text.formula.tree import (
    QUAD,
    Accent,
    Fence,
    Fraction,
    Grid,
    Limits,
    Node,
    Root,
    Row,
    Scripts,
    Space,
    Span,
    Symbol,
)

_RAISED = {glyph for char, glyph in symbols.SUPERSCRIPTS.items() if char != glyph}
_HALVES = {"1/2": "½", "1/4": "¼", "3/4": "¾"}
_SIMPLE_SCRIPT = re.compile(r"[<>≤≥−+]?[\w.′½¼¾]+")
_OPEN_SCRIPT = re.compile(r"[_^][<>≤≥−+]?[\w.]+$")


def linear(node: Node, *, tight: bool = False) -> str:
    """Write a tree in one line; `tight` (inside scripts) leaves out the spaces around signs."""
    match node:
        case Symbol(text=text):
            return text
        case Space(cells=cells):
            return " " * cells
        case Row(items=items):
            return _row(items, tight)
        case Fraction():
            return _fraction(node, tight)
        case Root(body=body, index=index):
            return (superscript(linear(index, tight=True)) if index else "") + "√" + _grouped(body, tight)
        case Scripts(base=base, sub=sub, sup=sup):
            return _atom(base, tight) + scripts(sub, sup)
        case Limits(base=base, under=under, over=over):
            return linear(base, tight=tight) + scripts(under, over)
        case Accent(name=name, body=body):
            return accented(name, linear(body, tight=tight))
        case Span(name=name, body=body):
            return linear(body, tight=tight) if name == "underline" else _grouped(body, tight)
        case Fence(left=left, parts=parts, right=right, middle=middle):
            inner = "".join(bar + linear(part, tight=tight) for bar, part in zip(("", *middle), parts, strict=True))
            return left + inner + ("}" if left == "{" and not right else right)
        case Grid(rows=rows, columns=columns):
            comma = "" if columns == "rl" else ", "
            return "; ".join(comma.join(linear(cell, tight=tight) for cell in row).strip() for row in rows)


def accented(name: str, body: str) -> str:
    """Put a mark on one character, or name it before several."""
    mark, _, word = symbols.ACCENTS[name]
    if len(body.rstrip("\u0302\u0303\u0304\u0305\u0307")) == 1 and not body.isspace():
        return unicodedata.normalize("NFC", {"ı": "i", "ȷ": "j"}.get(body, body) + mark)
    if name in ("bar", "overline") and body.isalpha():
        return "".join(char + "\u0305" for char in body)
    return f"{word}({body})"


def superscript(script: str) -> str:
    """A raised string: glyphs where all exist, else `^` and parentheses when needed."""
    return raised(script) or ("^" + _script(script) if script else "")


def subscript(script: str) -> str:
    """A lowered string: glyphs where all exist, else `_` and parentheses when needed."""
    return lowered(script) or ("_" + _script(script) if script else "")


def raised(script: str) -> str:
    """The string in superscript glyphs, or "" when one is missing."""
    return _mapped(script, symbols.SUPERSCRIPTS)


def lowered(script: str) -> str:
    """The string in subscript glyphs, or "" when one is missing."""
    return _mapped(script, symbols.SUBSCRIPTS)


def scripts(sub: Node | None, sup: Node | None) -> str:
    """Subscript and superscript as they follow their base; primes come first, as in h′ₜ."""
    low = subscript(linear(sub, tight=True)) if sub else ""
    high = superscript(linear(sup, tight=True)) if sup else ""
    return high + low if high and high.strip("′") == "" else low + high


def _mapped(script: str, table: dict[str, str]) -> str:
    return "".join(table[char] for char in script) if all(char in table for char in script) else ""


def _script(script: str) -> str:
    if set(script) & _RAISED:
        return f"({script})"
    if len(script) == 1 or _SIMPLE_SCRIPT.fullmatch(script) or _enclosed(script):
        return script
    return f"({script})"


def _enclosed(script: str) -> bool:
    return script[0] == "(" and script.find(")") == len(script) - 1


def _row(items: tuple[Node, ...], tight: bool) -> str:
    line = ""
    pieces = list(spaced(items, tight=tight))
    for index, (space, item, _) in enumerate(pieces):
        part = linear(item, tight=tight)
        if isinstance(item, Fraction) and part not in _HALVES.values() and _has_factor(pieces, index):
            part = f"({part})"
            if index and _is_function(pieces[index - 1][1]):
                space = 0
        if not space and _OPEN_SCRIPT.search(line) and part[:1].isalnum():
            space = 1
        line += " " * space + part
    return line


def _has_factor(pieces: list[tuple[int, Node, Kind]], index: int) -> bool:
    """Whether a fraction stands next to something it multiplies, so that a/b would read wrongly."""
    before = pieces[index - 1] if index and pieces[index][0] < QUAD else None
    after = pieces[index + 1] if index + 1 < len(pieces) and pieces[index + 1][0] < QUAD else None
    if before is not None and (_is_function(before[1]) or kinds(before[1])[1] in ("close", "inner")):
        return True
    multiplied = before is not None and before[2] == "ord" and before[1] != Symbol("−", "bin")
    return multiplied or (after is not None and after[2] in ("ord", "op", "open", "inner"))


def _is_function(node: Node) -> bool:
    """Whether a node is the name of a function, to which what follows is the argument: ln, expₐ, not ∑."""
    base = node.base if isinstance(node, Scripts) else node
    return isinstance(base, Symbol) and base.kind == "op" and not base.limits and base.text[:1].isalpha()


def _fraction(node: Fraction, tight: bool) -> str:
    if not node.bar:
        return f"{linear(node.over, tight=tight)}; {linear(node.under, tight=tight)}"
    over, under = linear(node.over, tight=tight), linear(node.under, tight=tight)
    if not _is_product(node.over):
        over = f"({over})"
    if not _is_factor(node.under):
        under = f"({under})"
    return _HALVES.get(f"{over}/{under}", f"{over}/{under}")


def _is_product(node: Node) -> bool:
    """Whether a numerator needs no parentheses: no sum, relation, list or fraction at its top."""
    if isinstance(node, Row):
        pieces = list(spaced(node.items, tight=False))
        # An operator reaches as far as it can, unless its argument is in parentheses.
        arguments = [item for _, item, _ in pieces[1:]]
        calls = [
            isinstance(argument, Fence)
            for (_, _, kind), argument in zip(pieces[:-1], arguments, strict=True)
            if kind == "op"
        ]
        return bool(pieces) and all(calls) and not {"bin", "rel", "punct", "inner"} & {kind for _, _, kind in pieces}
    return not isinstance(node, (Fraction, Grid)) or linear(node) in _HALVES.values()


def _is_factor(node: Node) -> bool:
    """Whether a denominator, a radicand or a base is one thing: x, xᵢ, 12, ∂x, f(x), (…)."""
    match node:
        case Symbol(kind=kind):
            return kind in ("ord", "op")
        case Row(items=items):
            visible = [item for item in items if not isinstance(item, Space)]
            if visible and all(isinstance(item, Symbol) and re.fullmatch(r"[\d.]", item.text) for item in visible):
                return True
            head, *rest = visible or [Row()]
            if len(rest) != 1:
                return False
            is_call = isinstance(rest[0], Fence) and _is_factor(head)
            return is_call or (head in (Symbol("∂"), Symbol("∇"), Symbol("d")) and _is_factor(rest[0]))
        case Fraction() | Grid() | Space():
            return linear(node) in _HALVES.values()
        case Scripts(base=base):
            return _is_factor(base) or not isinstance(base, Row)
        case _:
            return True


def _grouped(node: Node, tight: bool) -> str:
    line = linear(node, tight=tight)
    return line if _is_factor(node) else f"({line})"


def _atom(node: Node, tight: bool) -> str:
    """The base of a script: a group of several things is put in parentheses."""
    if isinstance(node, (Symbol, Span)) or node == Row():
        return linear(node, tight=tight)
    return _grouped(node, tight)
