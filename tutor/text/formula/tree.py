"""A formula as a tree: what the parser gives to the two renderers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tutor.text.formula.symbols import Kind

# From this many cells on a space separates formulas.
QUAD = 3


@dataclass(frozen=True)
class Symbol:
    """A glyph, a number, a word or the name of an operator."""

    text: str
    kind: Kind = "ord"
    limits: bool = False


@dataclass(frozen=True)
class Space:
    """An explicit space, in cells."""

    cells: int


@dataclass(frozen=True)
class Row:
    """Things side by side."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Fraction:
    """A fraction, or without `bar` two things one above the other."""

    over: Node
    under: Node
    bar: bool = True


@dataclass(frozen=True)
class Root:
    """A square root, or another with its index."""

    body: Node
    index: Node | None = None


@dataclass(frozen=True)
class Scripts:
    """Something with a subscript, a superscript or both."""

    base: Node
    sub: Node | None
    sup: Node | None


@dataclass(frozen=True)
class Accent:
    """Something with a mark above; `name` is a key of `symbols.ACCENTS`."""

    name: str
    body: Node


@dataclass(frozen=True)
class Span:
    """A line or a brace along something; `name` is underline, underbrace or overbrace."""

    name: str
    body: Node


@dataclass(frozen=True)
class Fence:
    """Something between delimiters that grow with it; `middle` ones stand between its parts."""

    left: str
    parts: tuple[Node, ...]
    right: str
    middle: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Something with other things above or below, as `\\overset` makes them."""

    base: Node
    under: Node | None
    over: Node | None


@dataclass(frozen=True)
class Grid:
    """Rows of cells: a matrix, cases, aligned equations; `columns` holds l, c, r and repeats.

    `loose` gives two rows an empty one between them, so that the middle has a baseline.
    """

    rows: tuple[tuple[Node, ...], ...]
    columns: str = "c"
    loose: bool = True


Node: TypeAlias = Symbol | Space | Row | Fraction | Root | Scripts | Accent | Span | Fence | Limits | Grid


def row_items(node: Node) -> tuple[Node, ...]:
    """The things of a row; anything else is a row of one."""
    return node.items if isinstance(node, Row) else (node,)


def as_row(items: list[Node]) -> Node:
    """The only item, or a row of them all."""
    return items[0] if len(items) == 1 else Row(tuple(items))
