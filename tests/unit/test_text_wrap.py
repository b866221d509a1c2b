import io
import itertools
import subprocess
import sys

import pytest
import rich.text
import textual.content
from hypothesis import given, settings
from hypothesis import strategies as st
from rich import _wrap
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tutor.text import wrap
from tutor.text.width import cells, clusters
from tutor.text.wrap import CLOSING, OPENING, divide_line

FAMILY = "👨\u200d👩\u200d👧"
ACCENTED = "e\u0301"
ideographs = st.sampled_from("注意力机制的梯度为何消失学习一二三序列模型")
latin_words = st.text("abcdefgXYZ0123456789_", min_size=1, max_size=9)
closers = st.sampled_from("，。；：）”》—")
openers = st.sampled_from("（“《")
pictures = st.sampled_from([FAMILY, "❤\ufe0f", "👍🏽", "🇨🇳", "1\ufe0f\u20e3"])
accents = st.sampled_from([ACCENTED, "x\u0302", "的\u0301"])
spaces = st.sampled_from([" ", "  ", "\u3000", "\u00a0"])
ascii_marks = st.sampled_from(list(".,:;?!()[]{}%/-–·’—\"'$"))
anything = st.lists(
    st.one_of(ideographs, latin_words, closers, openers, pictures, accents, spaces, ascii_marks), max_size=60
).map("".join)
widths = st.integers(1, 60)


def kept_apart(parts: list[str]) -> list[str]:
    """Spaces between neighbouring Latin words, which would otherwise be one long word."""
    return [
        " " + part if part[:1].isascii() and before[-1:].isascii() else part
        for before, part in zip(["", *parts], parts, strict=False)
    ]


def lines_of(text: str, width: int) -> list[str]:
    edges = [0, *divide_line(text, width), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@settings(deadline=None)
@given(st.one_of(anything, st.text(max_size=80)), widths)
def test_breaks_lie_inside_the_text_in_order(text: str, width: int) -> None:
    breaks = divide_line(text, width)
    assert breaks == sorted(set(breaks))
    assert all(0 < index < len(text) for index in breaks)


@settings(deadline=None)
@given(anything, widths)
def test_no_line_is_wider_than_the_limit(text: str, width: int) -> None:
    for line in lines_of(text, width):
        shown = line.rstrip()
        assert cells(shown) <= width or len(clusters(shown)) == 1


@settings(deadline=None)
@given(anything, widths)
def test_no_character_is_split_from_its_accents_or_joiners(text: str, width: int) -> None:
    assert set(divide_line(text, width)) <= {start for start, _, _ in clusters(text)}


@settings(deadline=None)
@given(st.lists(st.one_of(latin_words, ideographs, closers, openers, spaces), max_size=60), widths)
def test_no_latin_word_that_fits_a_line_is_split(parts: list[str], width: int) -> None:
    text, inside = "", set()
    for part in kept_apart(parts):
        if part.isascii() and len(word := part.strip()) <= width:
            inside |= set(range(len(text + part) - len(word) + 1, len(text + part)))
        text += part
    assert not inside & set(divide_line(text, width))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.one_of(st.just(""), openers), st.one_of(ideographs, latin_words), st.one_of(st.just(""), closers)),
        max_size=40,
    ),
    st.integers(13, 60),
)
def test_no_line_starts_with_a_closing_or_ends_with_an_opening_mark(
    parts: list[tuple[str, str, str]], width: int
) -> None:
    lines = lines_of("".join(kept_apart(list(map("".join, parts)))), width)
    assert not [line for line in lines[1:] if line[0] in CLOSING]
    assert not [line for line in lines[:-1] if line[-1] in OPENING]


@settings(deadline=None)
@given(st.text("注意力机制梯度", max_size=100), st.integers(2, 60))
def test_every_line_of_ideographs_is_full(text: str, width: int) -> None:
    assert all(len(line) == width // 2 for line in lines_of(text, width)[:-1])


@settings(deadline=None)
@given(st.lists(st.text("abcdefgh.,'-", min_size=1, max_size=12), max_size=40).map(" ".join), st.integers(12, 60))
def test_english_breaks_where_rich_breaks_it(text: str, width: int) -> None:
    assert divide_line(text, width) == _wrap.divide_line(text, width)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("他说：“你好，世界。”然后走了", 12, ["他说：“你", "好，世界。”", "然后走了"]),
        ("自注意力（attention）机制", 12, ["自注意力", "（attention", "）机制"]),
        ("自注意力（attention）机制", 13, ["自注意力", "（attention）", "机制"]),
        ("用LSTM建模", 6, ["用LSTM", "建模"]),
        ("梯度消失——几乎为零", 10, ["梯度消失——", "几乎为零"]),
        ("查询/键/值", 6, ["查询/", "键/值"]),
        ("don’t stop", 7, ["don’t", "stop"]),
        ("内积 q·k 的方差", 9, ["内积 q·k", "的方差"]),
        ("see torch.nn.functional.softmax", 14, ["see", "torch.nn.", "functional.", "softmax"]),
        ("第\u00a04\u00a0页的图", 7, ["第\u00a04\u00a0页", "的图"]),
    ],
)
def test_known_lines(text: str, width: int, lines: list[str]) -> None:
    assert [line.rstrip() for line in lines_of(text, width)] == lines


def test_without_fold_a_long_word_overflows_whole() -> None:
    text = "见 attention_weights。好"
    edges = [0, *divide_line(text, 8, fold=False), len(text)]
    assert "attention_weights" in [text[a:b] for a, b in itertools.pairwise(edges)]


@pytest.mark.parametrize("width", [0, -1])
def test_a_line_without_room_is_not_broken(width: int) -> None:
    assert divide_line("注意力 attention", width) == []


def test_wrap_keeps_styles_and_drops_trailing_space() -> None:
    text = Text("one ")
    text.append("two", "prose.strong")
    lines = wrap.wrap(text, 4)
    assert [line.plain for line in lines] == ["one", "two"]
    assert [(span.start, span.end, span.style) for span in lines[1].spans] == [(0, 3, "prose.strong")]


def test_installed_in_rich_a_table_keeps_latin_words_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich.text, "divide_line", _wrap.divide_line)
    table = Table("列", width=14)
    table.add_row("这里的注意attention机制")

    def shown() -> str:
        console = Console(width=14, file=io.StringIO(), color_system=None)
        with console.capture() as capture:
            console.print(table)
        return capture.get()

    assert "attention" not in shown()
    wrap.install_rich()
    assert "attention" in shown()


def test_installed_in_textual_content_fills_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual.content, "divide_line", _wrap.divide_line)
    content = textual.content.Content("注意力 机制的梯度消失")
    wrap.install_textual(textual.content)
    assert [line.plain for line in content.wrap(10)] == ["注意力 机", "制的梯度消", "失"]


def test_the_text_room_loads_no_textual_and_no_parser() -> None:
    code = (
        "import sys, tutor.text.wrap, tutor.text.width, tutor.text.prose, tutor.text.inline;"
        "print([m for m in ('textual', 'markdown_it', 'pylatexenc', 'rich.table') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
