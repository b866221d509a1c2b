"""A formula that is too wide is broken: between formulas, before relations, then before + and −."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from engine.contract.message import say
from tutor.text.formula.boxes import Box, beside, blank, stack, text
from tutor.text.formula.errors import FormulaError
from tutor.text.formula.layout import Style, layout, row_boxes
from tutor.text.formula.tree import QUAD, Fence, Node, Row, Symbol

DEEPEST_INDENT = 16


class Break(IntEnum):
    """Where a line may end, the best places first."""

    FORMULA = 0
    RELATION = 1
    SUM = 2
    PRODUCT = 3
    INSIDE = 4
    NEVER = 5


@dataclass(frozen=True)
class Piece:
    """A box of the top row, the spaces before it, and how well a line may break before it."""

    space: int
    box: Box
    before: Break


def fit(node: Node, width: int) -> Box:
    """Lay out a tree in at most `width` cells; FormulaError when no line break makes it fit."""
    whole = layout(node)
    if whole.width <= width:
        return whole
    pieces = _pieces(node.items, inside=False) if isinstance(node, Row) else []
    lines = _lines(pieces, width, Break.FORMULA, 0) if pieces else []
    boxes = [_joined(line, indent) for indent, line in lines]
    if not boxes or max(box.width for box in boxes) > width:
        needed = max((box.width for box in boxes), default=whole.width)
        raise FormulaError(
            say("the formula needs {needed} cells, but only {width} are there", needed=needed, width=width)
        )
    # A script between two lines could belong to either: an empty row settles it, between all lines for an even look.
    crowded = any(upper.height - 1 > upper.base or lower.base > 0 for upper, lower in pairwise(boxes))
    parts = [part for box in boxes for part in ([blank(1), box] if crowded else [box])]
    return stack(parts[1:] if crowded else parts, 0, side="l")


def _pieces(items: tuple[Node, ...], *, inside: bool) -> list[Piece]:
    """The boxes of a row; a one-row pair of delimiters gives its content too, for want of better places."""
    pieces: list[Piece] = []
    previous: Node | None = None
    for space, item, kind, box in row_boxes(items, Style.DISPLAY):
        before = _quality(item, kind, previous, space)
        before = max(before, Break.INSIDE) if inside else before
        if isinstance(item, Fence) and len(item.parts) == 1 and isinstance(item.parts[0], Row) and not box.tall:
            content = _pieces(item.parts[0].items, inside=True)
            pieces += [Piece(space, text(item.left), before), *content, Piece(0, text(item.right), Break.NEVER)]
        else:
            pieces.append(Piece(space, box, before))
        previous = item
    return pieces


def _quality(item: Node, kind: str, previous: Node | None, space: int) -> Break:
    if previous is None:
        return Break.NEVER
    if space >= QUAD and kind != "rel":
        return Break.FORMULA
    if kind == "rel":
        return Break.RELATION
    if kind == "bin":
        return Break.SUM if isinstance(item, Symbol) and item.text in "+−±" else Break.PRODUCT
    after_comma = isinstance(previous, Symbol) and previous.kind == "punct"
    return Break.PRODUCT if after_comma else Break.NEVER


def _lines(pieces: list[Piece], width: int, level: Break, indent: int) -> list[tuple[int, list[Piece]]]:
    """Break at `level` only, filling lines; what is still too wide is broken at the next level, deeper indented."""
    if _width(pieces) + indent <= width or level is Break.NEVER:
        return [(indent, pieces)]
    chunks: list[list[Piece]] = []
    for piece in pieces:
        if chunks and piece.before is level:
            chunks.append([piece])
        elif chunks:
            chunks[-1].append(piece)
        else:
            chunks.append([piece])
    following = indent + _hanging(pieces, level)
    lines: list[tuple[int, list[Piece]]] = []
    for chunk in chunks:
        if lines:
            last_indent, last = lines[-1]
            alone = _width(chunk) + following <= width
            if level is Break.RELATION and not alone and _width(last) <= DEEPEST_INDENT:
                lines[-1:] = _lines(last + chunk, width, Break(level + 1), last_indent)
                continue
            if level is not Break.FORMULA and _width(last + chunk) + last_indent <= width:
                lines[-1] = (last_indent, last + chunk)
                continue
        lines += _lines(chunk, width, Break(level + 1), following if lines else indent)
    return lines


def _hanging(pieces: list[Piece], level: Break) -> int:
    """How far the lines after the first stand in: a relation under the first relation, a sum behind it."""
    if level is Break.FORMULA:
        return 0
    position = 0
    for piece in pieces:
        position += piece.space
        if piece.before is Break.RELATION:
            return (position if level is Break.RELATION else position + 2) if position <= DEEPEST_INDENT else 2
        position += piece.box.width
    return 2


def _width(pieces: list[Piece]) -> int:
    return sum(piece.space + piece.box.width for piece in pieces) - pieces[0].space


def _joined(pieces: list[Piece], indent: int) -> Box:
    first, *rest = pieces
    boxes = [blank(indent)] if indent else []
    for piece in [replace(first, space=0), *rest]:
        boxes += [blank(piece.space), piece.box] if piece.space else [piece.box]
    return beside(boxes)
