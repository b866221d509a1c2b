"""Tokens → the tree of a formula."""

from __future__ import annotations

from typing import Any

from engine.contract.message import say
from tutor.text.formula import symbols
from tutor.text.formula.errors import FormulaError
from tutor.text.formula.fencing import pair
from tutor.text.formula.source import Token, inside, read, tokens
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
    as_row,
    row_items,
)
from tutor.text.formula.words import in_alphabet, is_number, operator_name

BREAK = "\\"


def parse(tex: str) -> Node:
    """Parse a formula; FormulaError names what cannot be shown and where (characters count from 1)."""
    found = tokens(read(tex))
    if any(_is_break(token) or token.value == "&" for token in found):
        return _grid(found, "rl", loose=False)
    return _Reader(found).row()


def _is_break(token: Token) -> bool:
    return token.kind == "macro" and token.value in (BREAK, "newline", "cr")


def _grid(found: list[Token], columns: str, *, loose: bool) -> Grid:
    reader = _Reader(found)
    rows: list[list[Node]] = [[]]
    while True:
        cell = reader.row(in_grid=True)
        continued = columns == "rl" and len(rows[-1]) % 2 == 1
        # The second half of an equation goes on from the first: its relation keeps its space.
        rows[-1].append(Row((Symbol(""), *row_items(cell))) if continued else cell)
        token = reader.take()
        if token.kind == "end":
            break
        if token.value != "&":
            reader.skip_row_distance(token)
            rows.append([])
    if len(rows) > 1 and rows[-1] == [Row()]:
        rows.pop()
    return Grid(tuple(tuple(row) for row in rows), columns, loose)


class _Reader:
    """Reads one list of tokens from left to right."""

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.index = 0

    def peek(self) -> Token:
        """The next token, or "end"."""
        if self.index < len(self.found):
            return self.found[self.index]
        return Token("end", "", self.found[-1].position if self.found else 0)

    def take(self) -> Token:
        """The next token, passed over."""
        token = self.peek()
        self.index += 1
        return token

    def row(self, *, in_grid: bool = False, in_fence: bool = False) -> Node:
        """Everything up to the end, to the end of a cell, or to `\\right` or `\\middle`."""
        items: list[Node] = []
        while (token := self.peek()).kind != "end":
            if token.kind == "macro" and token.value in ("right", "middle"):
                if in_fence:
                    break
                raise FormulaError(say("\\right without \\left at character {position}", position=token.position))
            if _is_break(token) or (token.kind == "char" and token.value == "&"):
                if in_grid:
                    break
                raise FormulaError(
                    say("a row or cell ends inside a group at character {position}", position=token.position)
                )
            self.item(items)
        return as_row(pair(items))

    def item(self, items: list[Node]) -> None:
        """Read one thing and append it to `items`, or attach it to the last of them."""
        token = self.take()
        if token.kind == "char" and token.value in ("_", "^", "'", "’"):
            self.script(items, token)
        elif token.kind == "macro" and token.value in ("limits", "nolimits"):
            if items and isinstance(items[-1], Symbol):
                items[-1] = Symbol(items[-1].text, items[-1].kind, token.value == "limits")
        elif not (token.kind == "macro" and token.value in symbols.IGNORED | symbols.SIZES):
            last = items[-1] if items else None
            if is_number(token.value) and isinstance(last, Symbol) and is_number(last.text):
                items[-1] = Symbol(last.text + token.value)
            else:
                items.append(self.node(token))

    def script(self, items: list[Node], token: Token) -> None:
        """Attach a subscript, a superscript or primes to the last item."""
        last = items.pop() if items and not isinstance(items[-1], Space) else Row()
        scripts = last if isinstance(last, Scripts) else Scripts(last, None, None)
        if token.value in ("'", "’"):
            count = 1
            while self.peek().kind == "char" and self.peek().value in ("'", "’"):
                self.take()
                count += 1
            items.append(Scripts(scripts.base, scripts.sub, _joined(scripts.sup, Symbol("′" * count), token)))
            return
        following = self.take()
        if following.kind == "end" or (following.kind == "char" and following.value in ("_", "^", "'", "&")):
            raise FormulaError(
                say("nothing follows {sign} at character {position}", sign=token.value, position=token.position)
            )
        node = self.node(following)
        if token.value == "^":
            items.append(Scripts(scripts.base, scripts.sub, _joined(scripts.sup, node, token)))
        elif scripts.sub is None:
            items.append(Scripts(scripts.base, node, scripts.sup))
        else:
            raise FormulaError(say("a second subscript at character {position}", position=token.position))

    def node(self, token: Token) -> Node:
        """The node of one token."""
        if token.kind == "group":
            group = _Reader(tokens(token.nodes)).row()
            # Braces make one ordinary thing of what they hold: 1{,}000, {x^2}^3.
            if isinstance(group, Symbol):
                return Symbol(group.text)
            return Row((group,)) if isinstance(group, Scripts) else group
        if token.kind == "environment":
            return self.environment(token)
        if token.kind == "macro":
            return self.macro(token)
        if token.value == "~":
            return Space(1)
        glyph, kind = symbols.CHARACTERS.get(token.value, (token.value, "ord"))
        return Symbol(glyph, kind, limits=kind == "op" and glyph in symbols.LIMIT_OPERATORS.values())

    def environment(self, token: Token) -> Node:
        """A matrix, cases or aligned equations."""
        if token.value not in symbols.GRIDS:
            raise FormulaError(
                say("unknown environment {name} at character {position}", name=token.value, position=token.position)
            )
        left, right, columns = symbols.GRIDS[token.value]
        if token.value == "array":
            wanted = [part.value for part in tokens(inside(token.arguments[0]))]
            columns = "".join(letter for letter in wanted if letter in ("l", "c", "r")) or "c"
        loose = columns != "rl" and not token.value.startswith("gather")
        grid = _grid(tokens(token.nodes), columns, loose=loose)
        return Fence(left, (grid,), right) if left or right else grid

    def macro(self, token: Token) -> Node:
        """A symbol, or what a macro makes of its arguments."""
        name = token.value
        if name in symbols.GLYPHS:
            return Symbol(*symbols.GLYPHS[name])
        if name in symbols.OPERATORS:
            return Symbol(symbols.OPERATORS[name], "op")
        if name in symbols.LIMIT_OPERATORS:
            return Symbol(symbols.LIMIT_OPERATORS[name], "op", limits=True)
        if name in symbols.SPACES or name.isspace():
            return Space(symbols.SPACES.get(name, 1))
        if name == "left":
            return self.fence(token)
        if name in symbols.IGNORED | symbols.SIZES:
            return Row()
        if not token.arguments:
            known = name in symbols.ARGUMENTS
            raise FormulaError(
                say("\\{name} lacks its argument at character {position}", name=name, position=token.position)
                if known
                else say("unknown macro \\{name} at character {position}", name=name, position=token.position)
            )
        return self.call(name, token.arguments)

    def call(self, name: str, arguments: tuple[Any, ...]) -> Node:
        """A macro with arguments."""
        if name in symbols.TEXT:
            return self.prose(inside(arguments[-1]))
        if name == "operatorname":
            return operator_name(self.argument(arguments[1]), limits=arguments[0] is not None)
        if name == "substack":
            return _grid(tokens(inside(arguments[0])), "c", loose=False)
        first = self.argument(arguments[0]) if arguments[0] is not None else None
        last = self.argument(arguments[-1])
        if name == "sqrt":
            return Root(last, first)
        if name in symbols.FRACTIONS and first:
            return Fraction(first, last)
        if name == "binom" and first:
            return Fence("(", (Fraction(first, last, bar=False),), ")")
        if name in ("overset", "stackrel"):
            return Limits(last, None, first)
        if name == "xrightarrow":
            return Limits(Symbol("⟶", "rel"), None, last)
        if name == "underset":
            return Limits(last, first, None)
        if name in symbols.ACCENTS:
            return Accent(name, last)
        if name in ("underline", "underbrace", "overbrace"):
            return Span(name, last)
        return in_alphabet(name, last)

    def argument(self, node: Any) -> Node:
        """The tree of one argument."""
        return _Reader(tokens(inside(node))).row()

    def prose(self, nodes: tuple[Any, ...]) -> Node:
        """Words with their spaces; `$…$` inside them is a formula again."""
        items: list[Node] = []
        word = ""
        for token in [*tokens(nodes, prose=True), Token("end", "", 0)]:
            if token.kind == "char":
                word += " " if token.value == "~" else token.value
                continue
            if token.kind == "macro" and token.value in frozenset("%#&$_{} "):
                word += token.value
                continue
            if word:
                items.append(Symbol(word))
                word = ""
            if token.kind == "group" and token.value != "$":
                items.append(self.prose(token.nodes))
            elif token.kind != "end":
                items.append(self.node(token))
        return as_row(items)

    def fence(self, token: Token) -> Node:
        """`\\left( … \\middle| … \\right)`."""
        left = self.delimiter(token)
        parts: list[Node] = []
        middle: list[str] = []
        inner = _Reader(self.found)
        inner.index = self.index
        while True:
            parts.append(inner.row(in_fence=True))
            end = inner.take()
            if end.kind == "end":
                raise FormulaError(say("\\left without \\right at character {position}", position=token.position))
            glyph = inner.delimiter(end)
            if end.value == "right":
                self.index = inner.index
                return Fence(left, tuple(parts), glyph, tuple(middle))
            middle.append(glyph)

    def delimiter(self, after: Token) -> str:
        """The delimiter that follows `\\left`, `\\middle` or `\\right`; "." is none."""
        token = self.take()
        glyph = symbols.GLYPHS.get(token.value, ("", ""))[0] if token.kind == "macro" else token.value
        glyph = {"<": "⟨", ">": "⟩"}.get(glyph, glyph)
        if glyph == "." and token.kind == "char":
            return ""
        if token.kind not in ("char", "macro") or glyph not in symbols.DELIMITERS:
            raise FormulaError(
                say("\\{name} needs a delimiter at character {position}", name=after.value, position=after.position)
            )
        return glyph

    def skip_row_distance(self, token: Token) -> None:
        """Pass over the `[2pt]` of `\\\\[2pt]`: rows keep their own distance here."""
        start = self.peek()
        if start.kind == "char" and start.value == "[" and start.position == token.position + 2:
            while (passed := self.take()).value != "]":
                if passed.kind == "end":
                    raise FormulaError(
                        say("braces or arguments do not match at character {position}", position=start.position)
                    )


def _joined(before: Node | None, node: Node, token: Token) -> Node:
    """Primes and a superscript share their place; two superscripts do not."""
    if before is None:
        return node
    if isinstance(before, Symbol) and before.text.strip("′") == "":
        return Row((before, node))
    raise FormulaError(say("a second superscript at character {position}", position=token.position))
