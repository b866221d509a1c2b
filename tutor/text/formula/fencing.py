"""Plain delimiters find their partners, so that they can grow like `\\left` and `\\right`."""

from __future__ import annotations

from tutor.text.formula.tree import Fence, Node, Scripts, Symbol, as_row


def pair(items: list[Node]) -> list[Node]:
    """Turn every matched pair of delimiters and what is between them into one Fence; scripts of the closing one stay.

    Delimiters without a partner stay symbols: intervals like [0, 1) are pairs, a lone `|` is a condition.
    """
    stack: list[list[Node]] = [[]]
    openers: list[Symbol] = []
    for index, item in enumerate(items):
        base = item.base if isinstance(item, Scripts) else item
        if isinstance(base, Symbol) and _closes(base, openers):
            content = stack.pop()
            fence = Fence(openers.pop().text, (as_row(content),), base.text)
            stack[-1].append(Scripts(fence, item.sub, item.sup) if isinstance(item, Scripts) else fence)
        elif isinstance(item, Symbol) and (_opens(item, items[index + 1 :])):
            openers.append(item)
            stack.append([])
        else:
            stack[-1].append(Symbol(item.text) if isinstance(item, Symbol) and item.kind == "bar" else item)
    while openers:
        content = stack.pop()
        opener = openers.pop()
        stack[-1].extend([Symbol(opener.text) if opener.kind == "bar" else opener, *content])
    return stack[0]


def _closes(symbol: Symbol, openers: list[Symbol]) -> bool:
    if not openers:
        return False
    if symbol.kind == "bar":
        return openers[-1] == symbol
    return symbol.kind == "close" and symbol.text != "!" and openers[-1].kind == "open"


def _opens(symbol: Symbol, following: list[Node]) -> bool:
    """Whether a delimiter opens; a bar does so when the same bar follows inside the surrounding delimiters."""
    if symbol.kind != "bar":
        return symbol.kind == "open"
    depth = 0
    for item in following:
        base = item.base if isinstance(item, Scripts) else item
        if not isinstance(base, Symbol):
            continue
        if base == symbol and depth == 0:
            return True
        depth += (base.kind == "open") - (base.kind == "close" and base.text != "!")
        if depth < 0:
            return False
    return False
