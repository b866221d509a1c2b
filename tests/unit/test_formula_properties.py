"""What holds for every formula: boxes are rectangles, lines fit, no letter is lost, only FormulaError is raised."""

from __future__ import annotations

import unicodedata
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tutor.text.formula import FormulaError, display, inline, symbols
from tutor.text.formula.layout import layout
from tutor.text.formula.parse import parse

NAMES = sorted({*symbols.GLYPHS, *symbols.ARGUMENTS, *symbols.LIMIT_OPERATORS, *symbols.OPERATORS, *symbols.SPACES})
FRAGMENTS = [
    *(f"\\{name}" for name in NAMES),
    *(f"\\{word}{{{name}}}" for name in (*symbols.GRIDS, "foo") for word in ("begin", "end")),
    *("\\left", "\\right", "\\middle", "\\limits", "\\begin", "\\\\", "{", "}", "{", "}", "^", "_", "'", "&", "$", "%"),
    *(
        "(",
        ")",
        "[",
        "]",
        "|",
        "+",
        "-",
        "=",
        ",",
        ".",
        " ",
        "x",
        "12",
        "中",
        "猫",
        "é",
        "\u0302",
        "\ud800",
        "👍🏽",
        "🇨🇳",
    ),
]
soup = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))

letter = st.sampled_from(["a", "b", "k", "t", "T", "Q", "7", r"\alpha", r"\text{猫 b}", r"\mathbf{W}"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda pair: rf"{pair[0]} + {pair[1]}"),
        two.map(lambda pair: rf"{pair[0]} \le {pair[1]}"),
        two.map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        two.map(lambda pair: rf"{{{pair[0]}}}_{{{pair[1]}}}"),
        two.map(lambda pair: rf"{{{pair[0]}}}^{{{pair[1]}}}"),
        two.map(lambda pair: rf"\sum_{{{pair[0]}}}^{{n}} {pair[1]}"),
        two.map(lambda pair: rf"\begin{{bmatrix}} {pair[0]} & {pair[1]} \\ 0 & 1 \end{{bmatrix}}"),
        two.map(lambda pair: rf"\begin{{cases}} {pair[0]} & {pair[1]} \end{{cases}}"),
        two.map(lambda pair: rf"\underbrace{{{pair[0]}}}_{{{pair[1]}}}"),
        two.map(lambda pair: rf"\left\{{ {pair[0]} \middle| {pair[1]} \right\}}"),
        inner.map(lambda one: rf"\sqrt[3]{{{one}}}"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"\\|{one}\\|"),
        inner.map(lambda one: rf"\overline{{{one}}}"),
        inner.map(lambda one: f"{{{one}}}'"),
    )


formulas = st.recursive(letter, _compound, max_leaves=8)

PLAIN = {glyph: char for table in (symbols.SUPERSCRIPTS, symbols.SUBSCRIPTS) for char, glyph in table.items()}
WORDS = {"overline": "", "½": "12", "¼": "14", "¾": "34"}


def _letters(shown: str) -> Counter[str]:
    """The letters and digits of a formula, whatever row or glyph they stand in."""
    for word, meaning in WORDS.items():
        shown = shown.replace(word, meaning)
    plain = "".join(PLAIN.get(char, char) for char in unicodedata.normalize("NFD", shown))
    return Counter(char for char in plain if char.isalnum())


def _source_letters(tex: str) -> Counter[str]:
    for name, glyph in {r"\alpha": "α", r"\text": "", r"\mathbf": "", r"\sum": "", r"\sqrt": "", r"\frac": ""}.items():
        tex = tex.replace(name, glyph)
    for name in (r"\le ", r"\overline", r"\underbrace", r"\left", r"\right", r"\middle", "{bmatrix}", "{cases}"):
        tex = tex.replace(name, "")
    return Counter(char for char in tex.replace(r"\begin", "").replace(r"\end", "") if char.isalnum())


@given(formulas)
@settings(deadline=None, max_examples=200)
def test_every_box_is_a_rectangle_with_its_baseline_inside(tex: str) -> None:
    box = layout(parse(tex))
    assert [cell_len(row) for row in box.rows] == [box.width] * box.height
    assert 0 <= box.top <= box.base <= box.bottom < box.height


@given(formulas, st.integers(20, 120))
@settings(deadline=None, max_examples=200)
def test_no_line_is_wider_than_asked(tex: str, width: int) -> None:
    try:
        lines = display(tex, width)
    except FormulaError:
        lines = []
    assert max(map(cell_len, lines), default=0) <= width
    assert lines or layout(parse(tex)).width > width


@given(formulas)
@settings(deadline=None, max_examples=200)
def test_no_letter_is_lost_in_two_dimensions_or_in_one(tex: str) -> None:
    assert _letters("".join(display(tex, 2000))) == _source_letters(tex)
    assert _letters(inline(tex)) == _source_letters(tex)


@given(formulas)
@settings(deadline=None, max_examples=100)
def test_a_broken_formula_keeps_all_its_letters(tex: str) -> None:
    try:
        broken = display(f"{tex} = {tex} + {tex}", 40)
    except FormulaError:
        return
    assert _letters("".join(broken)) == _source_letters(tex * 3)


@given(soup)
@settings(deadline=None, max_examples=600)
def test_any_text_is_shown_or_refused_with_a_formula_error(tex: str) -> None:
    try:
        lines = [*display(tex), inline(tex)]
    except FormulaError as error:
        lines = [str(error)]
    assert all(line.isprintable() for line in lines)
