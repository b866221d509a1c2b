import pytest

from tutor.text.inline import line


def test_a_line_carries_bold_code_formulas_and_quotes() -> None:
    text = line("**粗** `code` $d_k$ {{a.b:.1f}}", quotes={"a.b:.1f": "0.5"})
    assert text.plain == "粗 code dₖ 0.5"
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ("粗", "prose.strong"),
        ("code", "prose.code"),
        ("dₖ", "prose.formula"),
    ]


@pytest.mark.parametrize("source", ["1. x", "# x", "- x", "> x", "| x |", "[red]x[/]", "---", ""])
def test_a_line_holds_no_blocks_and_no_markup(source: str) -> None:
    assert line(source).plain == source


def test_line_ends_become_spaces_between_words_only() -> None:
    assert line("  one\ntwo  ").plain == "one two"
    assert line("一\n二").plain == "一二"


def test_a_display_formula_is_written_in_the_line() -> None:
    assert line("若 $$x_1$$ 则").plain == "若 x₁ 则"
    assert line("若 $x_1$", show_tex=True).plain == "若 $x_1$"
