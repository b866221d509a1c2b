"""TeX formulas for a terminal: two-dimensional for a display, one line for running text."""

from __future__ import annotations

from functools import lru_cache

from engine.contract.message import say
from tutor.text.formula.errors import FormulaError

__all__ = ["FormulaError", "display", "inline"]


def display(tex: str, width: int = 56) -> list[str]:
    """Lay out a formula in two dimensions, in lines of at most `width` cells.

    A formula that is too wide is broken before relations, then before + and −; FormulaError when TeX or width refuse.
    """
    return list(_display(tex, width))


@lru_cache(maxsize=512)
def inline(tex: str) -> str:
    """Write a formula in one line of Unicode: `softmax(QKᵀ/√dₖ)V`; FormulaError when the TeX cannot be shown."""
    from tutor.text.formula.linear import linear
    from tutor.text.formula.parse import parse

    try:
        return linear(parse(tex)).strip()
    except RecursionError as error:
        raise FormulaError(say("the formula is nested too deeply")) from error


@lru_cache(maxsize=512)
def _display(tex: str, width: int) -> tuple[str, ...]:
    from tutor.text.formula.breaking import fit
    from tutor.text.formula.parse import parse

    try:
        return tuple(row.rstrip() for row in fit(parse(tex), width).rows)
    except RecursionError as error:
        raise FormulaError(say("the formula is nested too deeply")) from error
