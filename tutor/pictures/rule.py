"""A thin rule with a title in it, which begins every picture."""

from __future__ import annotations

from tutor.pictures.ink import MUTED, STRONG, Line, Span
from tutor.text.width import cells, clean, cut


def title_rule(title: str, width: int, unicode: bool) -> Line:
    """Return a rule of `width` cells with the title near its left end."""
    dash = "─" if unicode else "-"
    shown = cut(clean(title), max(0, width - 6))
    if not shown:
        return [Span(dash * width, MUTED)]
    rest = width - cells(shown) - 3
    return [Span(dash + " ", MUTED), Span(shown, STRONG), Span(" " + dash * rest, MUTED)]
