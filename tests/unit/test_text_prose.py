import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from tutor.text import prose
from tutor.text.prose import plain, render
from tutor.text.styles import STYLES
from tutor.text.width import cells


def styles_at(lines: list[Text], word: str) -> set[str]:
    """The styles on a word, wherever it stands in the lines."""
    line = next(line for line in lines if word in line.plain)
    start = line.plain.index(word)
    return {str(span.style) for span in line.spans if span.start <= start and span.end >= start + len(word)}


ZH = """### 缩放 $d_k$

**注意力（attention）**是“软”查找，*相似度*越大，
权重越大；`softmax(x)` 见
[论文](https://arxiv.org/abs/1706.03762)。"""


@pytest.mark.parametrize(
    ("word", "style"),
    [
        ("缩放", "prose.heading"),
        ("注意力（attention）", "prose.strong"),
        ("相似度", "prose.emphasis"),
        ("softmax(x)", "prose.code"),
        ("dₖ", "prose.formula"),
        ("论文", "prose.link"),
        ("https://arxiv.org", "prose.muted"),
    ],
)
def test_every_part_of_the_text_carries_its_style_name(word: str, style: str) -> None:
    assert style in styles_at(render(ZH, 78), word)


def test_chinese_lines_of_the_source_join_without_a_space() -> None:
    assert "越大，权重越大" in plain(ZH, 78)
    assert plain("一行\n二行", 40) == "一行二行"
    assert plain("一行\nword\n二行", 40) == "一行 word 二行"
    assert plain("one\ntwo", 40) == "one two"
    assert plain("第一句。\nThen", 40) == "第一句。Then"


def test_a_hard_break_stays() -> None:
    assert plain("一行  \n二行", 40) == "一行\n二行"


@pytest.mark.parametrize(
    "source",
    ["**“强调”**是", "用**（强调）**的", "**注意**，", "他说**“对。”**然后", "**（a）**b", "中**a.**中"],
)
def test_bold_closes_beside_chinese_marks(source: str) -> None:
    assert "*" not in plain(source, 40)


@pytest.mark.parametrize("source", ["a * b * c", "snake_case_name", "2 ** 3 ** 4", "* a"])
def test_markers_that_are_not_emphasis_keep_their_meaning(source: str) -> None:
    assert plain(source, 40) == source.replace("* a", "• a")


def test_formulas_keep_their_asterisks_and_bars() -> None:
    assert "*z" in plain("$x*y*z$", 40, {}).replace(" ", "")
    shown = plain("| a | b |\n|---|---|\n| $P(a|b)$ | 1 |", 40)
    assert "P(a|b)" in shown.replace(" ", "").replace("∣", "|")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"costs \$5 and \$6", "costs $5 and $6"),
        ("costs $5 or $6", "costs $5 or $6"),
        ("`$HOME` and `$x$`", "$HOME and $x$"),
        ("    $x$ {{a.b}}", "  $x$ {{a.b}}"),
    ],
)
def test_a_dollar_is_not_always_a_formula(source: str, shown: str) -> None:
    assert plain(source, 40) == shown


def test_a_formula_beyond_us_shows_its_source() -> None:
    assert plain(r"a $\nosuchmacro{x$ b", 40) == r"a $\nosuchmacro{x$ b"
    assert r"\nosuchmacro{x" in plain(r"$$\nosuchmacro{x$$", 40)


def test_show_tex_shows_the_source_of_every_formula() -> None:
    text = "\n".join(line.plain for line in render(r"a $x_1$ b $$\frac{a}{b}$$", 40, show_tex=True))
    assert text == "a $x_1$ b\n\n  \\frac{a}{b}"


def test_a_display_formula_stands_between_the_lines_of_its_paragraph() -> None:
    assert plain("前\n$$a$$\n后", 40) == "前\n\n  a\n\n后"


def test_a_display_formula_in_a_block_quote_loses_the_quote_marks() -> None:
    assert plain("> 前\n> $$\n> a\n> $$", 40) == "│ 前\n│\n│   a"


def test_quotes_show_their_value_or_the_room_it_will_take() -> None:
    source = "权重 {{scale.max:.2f}}，{{scale.n:d}} 次"
    assert plain(source, 40, {"scale.max:.2f": "0.98", "scale.n:d": "12"}) == "权重 0.98，12 次"
    waiting = plain(source, 40)
    assert "…" in waiting
    assert cells(waiting) == cells("权重 0.98，12 次")
    assert styles_at(render(source, 40), "…") == {"prose.muted"}


@pytest.mark.parametrize(
    ("spec", "room"), [(":.4f", 6), (":.0e", 4), (":.1%", 5), (":6d", 6), ("", 3), (":9999999f", 1)]
)
def test_a_missing_number_is_as_wide_as_its_format(spec: str, room: int) -> None:
    assert cells(plain("(" + "{{a.b" + spec + "}})", 40)) == room + 2


def test_a_quote_is_shown_as_it_is_never_read_as_markdown() -> None:
    assert plain("{{a.b}} {{a.c_d}}", 40, {"a.b": "*x* [red]", "a.c_d": "\x1b[2J$y$"}) == "*x* [red] [2J$y$"


def test_a_quote_inside_a_formula_is_filled_in() -> None:
    assert plain("$n = {{a.n:d}}$", 40, {"a.n:d": "512"}) == "n = 512"


def test_lists_align_their_text_and_nest() -> None:
    source = "- 一行放不下的时候要对齐到文字\n  - 第二层\n- b\n\n9. x\n10. y"
    assert plain(source, 20).split("\n") == [
        "• 一行放不下的时候要",
        "  对齐到文字",
        "  – 第二层",
        "• b",
        "",
        " 9. x",
        "10. y",
    ]


def test_diagrams_keep_every_line_however_wide() -> None:
    diagram = "x ──▶ ┌──┐\n      └──┘   $a$ **b**"
    assert plain(f"```text\n{diagram}\n```", 60) == "\n".join("  " + line for line in diagram.split("\n"))
    assert plain(f"```text\n{diagram}\n```", 10) == diagram


TABLE = """| 符号 | 含义 | 数值 |
|:--|:-:|--:|
| $Q$ | 查询矩阵，每行是一个位置的查询 attention 向量 | 1024 |
| `K` | 键 | 3.14 |"""


def test_a_table_is_aligned_and_its_words_whole() -> None:
    assert plain(TABLE, 56).split("\n") == [
        "符号                      含义                      数值",
        "────────────────────────────────────────────────────────",
        "Q     查询矩阵，每行是一个位置的查询 attention 向   1024",
        "                           量",
        "K                          键                       3.14",
    ]


@pytest.mark.parametrize("width", [12, 20, 30, 56, 78])
def test_a_table_drops_no_character_at_any_width(width: int) -> None:
    shown = plain(TABLE, width)
    assert all(cells(line) <= width for line in shown.split("\n"))
    for word in ("attention", "1024", "3.14", "Q", "K"):
        assert word in shown
    assert not set("符号含义数值查询矩阵每行是一个位置的向量键") - set(shown)


def test_a_table_keeps_the_styles_of_its_cells() -> None:
    lines = render(TABLE, 56)
    assert styles_at(lines, "K") == {"prose.code"}
    assert styles_at(lines, "Q") == {"prose.formula"}
    assert styles_at(lines, "含义") == {"prose.strong"}


def test_rich_markup_emoji_codes_and_html_are_only_text() -> None:
    assert plain("[red]x[/red] :smile: <b>y</b>", 60) == "[red]x[/red] :smile: <b>y</b>"
    assert ":smile:" in plain("| :smile: |\n|---|\n| [b]x |", 60)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    shown = plain(text + "\n\n`\x1b[2J`\n\n```text\n\x9b31m\n```\n&#x202e;&#x200b;", 40)
    assert not set("\x1b\x9b\x07\u202e\u200b") & set(shown)
    assert all(char.isprintable() or char == "\n" or not char.isascii() for char in shown)


FRAGMENTS = [
    "注意力", "attention", " ", "\n", "\n\n", "，", "。", "（", "）", "*", "**", "_", "`", "$", "$$", "\\",
    "{{a.b:.2f}}", "- ", "1. ", "### ", "> ", "[x](y)", "![z](w)", "| a | b |\n|--|--:|\n", "| c | 注意 |\n",
    "<b>", "&amp;", "🇨🇳", "x_1", "```text\n", "```\n", "---\n", "\t", r"\frac{a}{b}", "\u00a0", "e\u0301",
    "https://example.org/a/b",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join), st.sampled_from([30, 56, 78]), st.booleans())
def test_no_source_breaks_the_renderer_or_its_tags(source: str, width: int, show_tex: bool) -> None:
    for line in render(source, width, show_tex=show_tex):
        assert "\n" not in line.plain
        assert not [char for char in line.plain if ord(char) >= 0xF0000]
        assert {str(span.style) for span in line.spans} <= set(STYLES)
        assert not line.style


PARAGRAPH = st.lists(
    st.sampled_from(
        ["注意力机制", "attention ", "，", "$x_1 + y$", "**粗**", "`code`", " ", "\n", "{{a.b:.4f}}", "（见 L04）"]
    ),
    min_size=1,
    max_size=40,
).map("".join)


@settings(deadline=None)
@given(PARAGRAPH, st.sampled_from(["", "- ", "> ", "1. ", "- - ", "> - "]), st.sampled_from([30, 56, 58, 78]))
def test_every_line_of_prose_fits_the_width(text: str, lead: str, width: int) -> None:
    assert all(cells(line.plain) <= width for line in render(lead + text.strip(), width))


def test_the_style_names_make_a_rich_theme() -> None:
    console = Console(file=io.StringIO(), theme=Theme(STYLES), force_terminal=True, color_system="truecolor", width=78)
    for line in render(ZH, 78):
        console.print(line)
    assert isinstance(console.file, io.StringIO)
    assert "\x1b[1m注意力（attention）\x1b[0m" in console.file.getvalue()


def test_nothing_renders_to_nothing() -> None:
    assert render("", 40) == []
    assert plain("\n\n", 40) == ""


def test_no_blank_line_opens_or_closes_a_block() -> None:
    for source in ("\n\n$$a$$\n\n", "- $$a$$", "> x\n\n"):
        lines = render(source, 40)
        assert lines[0].plain.strip()
        assert lines[-1].plain.strip()


def test_render_takes_the_width_of_formulas_apart_from_that_of_text() -> None:
    tex = "$$" + " + ".join(f"a_{{{i}}}" for i in range(20)) + "$$"
    widest = max(cells(line.plain) for line in prose.render(tex, 78, formula_width=30))
    assert widest <= 32
