"""The tree of a formula → a box in two dimensions."""

from __future__ import annotations

from enum import IntEnum

from rich.cells import cell_len

from tutor.text.formula import fences, symbols
from tutor.text.formula.boxes import Box, beside, blank, stack, text
from tutor.text.formula.grids import grid
from tutor.text.formula.linear import accented, linear, lowered, raised, superscript
from tutor.text.formula.spacing import kinds, spaced
from tutor.text.formula.symbols import Kind
from tutor.text.formula.tree import (
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

# Combining arrows are missing in most monospaced fonts: these marks are drawn in their own row.
ARROWS = ("→", "←")


class Style(IntEnum):
    """How much room a thing has: limits stand above and below only in a display, scripts are set tight."""

    SCRIPT = 0
    TEXT = 1
    DISPLAY = 2


def layout(node: Node, style: Style = Style.DISPLAY) -> Box:
    """Lay out a tree."""
    match node:
        case Symbol(text=content):
            return text(content)
        case Space(cells=cells):
            return blank(cells)
        case Row(items=items):
            return beside(spread(row_boxes(items, style)))
        case Fraction():
            return _fraction(node, style)
        case Root(body=body, index=index):
            return fences.root(layout(body, style), superscript(linear(index, tight=True)) if index else "")
        case Scripts(base=base, sub=sub, sup=sup):
            if _has_limits(base, style) and not (style < Style.DISPLAY and _fits_line(base, sub, sup)):
                return _limits(layout(base, style), sub, sup)
            return _scripts(layout(base, style), sub, sup, glyphs=base == Row() or not isinstance(base, Row))
        case Limits(base=base, under=under, over=over):
            return _limits(layout(base, style), under, over)
        case Accent():
            return _accent(node, style)
        case Span():
            return _span(node, style)
        case Fence(left=left, parts=parts, right=right, middle=middle):
            return fences.enclose(left, [layout(part, style) for part in parts], right, middle)
        case Grid(rows=rows, columns=columns, loose=loose):
            inner = Style.DISPLAY if columns == "rl" and style is Style.DISPLAY else min(style, Style.TEXT)
            return grid([[layout(cell, inner) for cell in row] for row in rows], columns, loose=loose)


def row_boxes(items: tuple[Node, ...], style: Style) -> list[tuple[int, Node, Kind, Box]]:
    """The things of a row: the spaces before each, the thing, its class and its box."""
    boxes: list[tuple[int, Node, Kind, Box]] = []
    for space, item, kind in spaced(items, tight=style is Style.SCRIPT):
        box = layout(item, style)
        after_fence = bool(boxes) and kinds(boxes[-1][1])[1] == "close" and boxes[-1][3].tall
        # Nothing touches a tall parenthesis or a fraction bar.
        apart = (after_fence and kind in ("ord", "open")) or (isinstance(item, Fraction) and bool(boxes))
        space = max(space, int(apart))
        boxes.append((space, item, kind, box))
    return boxes


def spread(boxes: list[tuple[int, Node, Kind, Box]]) -> list[Box]:
    """The boxes of a row with blanks for its spaces."""
    return [part for space, _, _, box in boxes for part in (blank(space), box) if part.width]


def _script(node: Node) -> Box:
    """A script in one row wherever it can be written so."""
    box = layout(node, Style.SCRIPT)
    return box if box.height == 1 or isinstance(node, Grid) else text(linear(node, tight=True))


def _fraction(node: Fraction, style: Style) -> Box:
    inner = min(style, Style.TEXT)
    over, under = layout(node.over, inner), layout(node.under, inner)
    width = max(over.width, under.width, 1)
    if not node.bar:
        return stack([over, blank(width), under], over.height)
    # A bar as wide as the bar above or below it would not show which is the main one.
    nested = any("─" * width in box.rows for box in (over, under))
    return stack([over, text("─" * (width + 2 * nested)), under], over.height)


def _has_limits(base: Node, style: Style) -> bool:
    if isinstance(base, Span):
        return base.name != "underline"
    return isinstance(base, Symbol) and base.limits and style > Style.SCRIPT


def _fits_line(base: Node, sub: Node | None, sup: Node | None) -> bool:
    """Whether limits can stand beside their operator as glyphs, which is enough inside a fraction."""
    low, high = (linear(part, tight=True) if part else "" for part in (sub, sup))
    return isinstance(base, Symbol) and bool(lowered(low) or not low) and bool(raised(high) or not high)


def _limits(base: Box, under: Node | None, over: Node | None) -> Box:
    upper = [_script(over)] if over else []
    lower = [_script(under)] if under else []
    above = sum(box.height for box in upper)
    return stack([*upper, base, *lower], above + base.base)


def _scripts(base: Box, sub: Node | None, sup: Node | None, *, glyphs: bool) -> Box:
    """Script glyphs on the line where all exist and `glyphs` allows; else raised and lowered rows beside the base."""
    low = _script(sub) if sub else None
    high = _script(sup) if sup else None
    low_glyphs = lowered(low.rows[0]) if low and low.height == 1 else ""
    high_glyphs = raised(high.rows[0]) if high and high.height == 1 and glyphs else ""
    rows: dict[int, str] = {}
    if base.tall:
        # Beside tall things scripts stand at the upper and the lower end.
        if high:
            bottom = base.top - base.base
            rows.update(_lines(text(high_glyphs) if high_glyphs else high, bottom - high.height + 1))
        if low:
            rows.update(_lines(text(low_glyphs) if low_glyphs else low, base.bottom - base.base))
    else:
        primes_first = high_glyphs.strip("′") == ""
        rows[0] = high_glyphs + low_glyphs if primes_first else low_glyphs + high_glyphs
        if high and not high_glyphs:
            rows.update(_lines(high, -high.height))
        if low and not low_glyphs:
            rows.update(_lines(low, 1))
    return beside([base, _placed(rows)])


def _lines(box: Box, first: int) -> dict[int, str]:
    return {first + index: row for index, row in enumerate(box.rows)}


def _placed(rows: dict[int, str]) -> Box:
    """A column from rows numbered from the baseline; one row above or below it does not make delimiters grow."""
    top, bottom = min(0, *rows), max(0, *rows)
    column = stack([text(rows.get(offset, "")) for offset in range(top, bottom + 1)], -top, side="l")
    core = (0 if top < -1 else -top, column.height - 1 if bottom > 1 else -top)
    return Box(column.rows, column.width, column.base, *core)


def _accent(node: Accent, style: Style) -> Box:
    """A combining mark on one character, a drawn one above more."""
    body = layout(node.body, style)
    drawn = symbols.ACCENTS[node.name][1]
    if body.height == 1 and body.width == 1 and drawn not in ARROWS:
        line = accented(node.name, body.rows[0])
        if cell_len(line) == 1:
            return text(line)
    shaft = "─" * (body.width - 1)
    above = text({"_": "_" * body.width, "→": shaft + "→", "←": "←" + shaft}.get(drawn, drawn))
    core = (body.top + 1, body.bottom + 1)
    return stack([above, body], body.base + 1, core=core)


def _span(node: Span, style: Style) -> Box:
    """A line under something, or a brace under or over it."""
    body = layout(node.body, style)
    if node.name == "underline":
        return stack([body, text("‾" * body.width)], body.base, core=(body.top, body.bottom))
    if node.name == "underbrace":
        return stack([body, fences.brace(body.width, over=False)], body.base)
    return stack([fences.brace(body.width, over=True), body], body.base + 1)
