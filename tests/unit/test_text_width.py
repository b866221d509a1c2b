import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.text.width import Align, cells, clean, clusters, cut, pad

FAMILY = "👨\u200d👩\u200d👧"
mixed = st.lists(
    st.sampled_from(["注", "a", "，", " ", "e\u0301", FAMILY, "🇨🇳", "❤\ufe0f", "…", "1"]), max_size=30
).map("".join)
dangerous = st.lists(
    st.sampled_from(["a", "注", "❤", "👩", "1", "\u200d", "\ufe0f", "\ufe0e", "\u202e", "\x1b", "\x9b", "\ud800", "\n"])
).map("".join)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_clusters_cover_the_text_without_gap(text: str) -> None:
    assert "".join(text[start:end] for start, end, _ in clusters(text)) == text


def test_a_flag_a_family_and_an_accented_letter_are_one_cluster_each() -> None:
    text = "🇨🇳🇩🇪" + FAMILY + "e\u0301"
    assert [text[start:end] for start, end, _ in clusters(text)] == ["🇨🇳", "🇩🇪", FAMILY, "e\u0301"]
    assert [size for _, _, size in clusters(text)] == [2, 2, 2, 1]


@settings(deadline=None)
@given(mixed, st.integers(0, 40))
def test_cut_never_exceeds_the_width_and_keeps_whole_characters(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cells(shown) <= width
    if shown != text and width:
        kept = shown.removesuffix("…")
        assert shown.endswith("…")
        assert text.startswith(kept)
        assert len(kept) in {0} | {end for _, end, _ in clusters(text)}
        following = [size for start, _, size in clusters(text) if start == len(kept)]
        assert cells(shown) + following[0] > width


@settings(deadline=None)
@given(mixed, st.integers(0, 40), st.sampled_from(["left", "center", "right"]))
def test_pad_takes_exactly_the_width(text: str, width: int, align: Align) -> None:
    assert cells(pad(text, width, align)) == width


def test_pad_puts_the_room_where_it_was_asked() -> None:
    assert pad("注意", 7) == "注意   "
    assert pad("注意", 7, "right") == "   注意"
    assert pad("注意", 7, "center") == " 注意  "


def test_cut_does_not_split_a_wide_character() -> None:
    assert cut("注意力机制", 6) == "注意…"
    assert cut("注意力机制", 10) == "注意力机制"


@settings(deadline=None)
@given(st.one_of(st.text(max_size=60), dangerous))
def test_clean_text_is_one_encodable_line_without_controls(text: str) -> None:
    shown = clean(text)
    assert "\n" not in shown
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [char for char in shown if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF")]
    shown.encode("utf-8")
    assert clean(shown) == shown


@pytest.mark.parametrize(
    "text", ["注意力，attention!", FAMILY, "❤\ufe0f", "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈", "e\u0301", "√d\u0302"]
)
def test_clean_keeps_honest_text(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\r\nc\u2028d", "a b c d"),
        ("\x1b[2J\x1b]52;c;eA==\x07", "[2J]52;c;eA=="),
        ("\x9b31m\x85", "31m "),
        ("a\ud83db", "ab"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("a\u200bb\u200dc\ufe0fd\ufeff", "abcd"),
        ("👩\u202e\u200d👧", "👩👧"),
        ("a\u3164b\ufe01c\U000e0101\U000e0041", "abc"),
    ],
)
def test_clean_removes_what_could_move_the_cursor_or_hide(text: str, shown: str) -> None:
    assert clean(text) == shown
