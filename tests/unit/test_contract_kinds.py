"""Each kind of parameter reads what a learner types, and says why it refuses."""

from __future__ import annotations

import pytest

from engine.contract.kinds import Boolean, Choice, Choices, Integer, Numbers, Real, Text, shown
from engine.contract.message import say

LABEL = say("sentence")


@pytest.mark.parametrize(("typed", "value"), [("7", 7), (" 7 ", 7), (7.0, 7), ("7.0", 7), ("−3", -3), ("-3", -3)])
def test_integers_are_read_as_people_write_them(typed: object, value: int) -> None:
    read = Integer(LABEL, -5, 10).read(typed)
    assert read == value
    assert isinstance(read, int)


@pytest.mark.parametrize("typed", ["", "x", "7.5", True, None, "1" * 101, "nan", "inf", "1e999", [7]])
def test_what_is_no_whole_number_is_refused(typed: object) -> None:
    assert "takes a whole number" in str(Integer(LABEL, -5, 10).read(typed))


def test_steps_count_from_the_minimum() -> None:
    kind = Integer(LABEL, 64, 512, step=64)
    assert kind.read(448) == 448
    assert str(kind.read(100)) == "sentence is 100, but it goes from 64 in steps of 64."


def test_reals_keep_their_ends_and_refuse_beyond() -> None:
    kind = Real(LABEL, 0.1, 5.0, "log")
    assert kind.read("0.1") == 0.1
    assert kind.read(5) == 5
    assert str(kind.read(0.09)) == "sentence is 0.09, but it must lie between 0.1 and 5.0."


def test_choices_keep_the_declared_order_and_drop_repeats() -> None:
    kind = Choices(LABEL, ("none", "sqrt", "d_k"))
    assert kind.read("d_k，none, d_k") == ("none", "d_k")
    assert kind.read(["sqrt"]) == ("sqrt",)
    assert kind.option_label("sqrt") == "sqrt"


def test_a_choice_shows_its_label_and_takes_its_id() -> None:
    kind = Choice(LABEL, ("on", 2), (say("scaling"), say("mask")))
    assert kind.read("2") == 2
    assert kind.option_label(2) == say("mask")
    assert "cannot be “True”" in str(Choice(LABEL, (1, 2)).read(True))


@pytest.mark.parametrize(("typed", "value"), [("on", True), ("是", True), (" No ", False), ("关", False), (True, True)])
def test_booleans_understand_both_languages(typed: object, value: bool) -> None:
    assert Boolean(LABEL).read(typed) is value


def test_text_has_a_default_per_language_and_single_spaces() -> None:
    kind = Text(LABEL, zh="狗 咬 人", en="the dog bit", most=20)
    assert (kind.default("zh"), kind.default("en")) == ("狗 咬 人", "the dog bit")
    assert kind.read("  a \t b\u3000c\n") == "a b c"
    assert kind.read("\ufeff我\u200b 爱") == "我 爱"
    assert kind.read("\u200b \u200b") == ""
    assert kind.read("👩\u200d👧") == "👩\u200d👧"
    assert kind.read("x" * 20) == "x" * 20
    assert str(kind.read("x" * 21)) == "sentence has 21 characters; at most 20 are taken."


@pytest.mark.parametrize(
    "typed", ["1 0; 0 1", "1,0；0，1", "[1 0]\n[0 1]", [[1, 0], [0, 1]], ((1, 0), (0, 1)), "1 0;0 1"]
)
def test_matrices_are_read_from_text_and_from_lists(typed: object) -> None:
    assert Numbers(LABEL, "matrix", most_rows=3, most_columns=3).read(typed) == ((1, 0), (0, 1))


def test_vectors_and_permutations_are_flat() -> None:
    assert Numbers(LABEL, "vector").read("1 -2.5 3e-1") == (1, -2.5, 0.3)
    assert Numbers(LABEL, "permutation").read([2, 0, 1]) == (2, 0, 1)
    assert Numbers(LABEL, "permutation").read("") == ()
    assert "exactly once" in str(Numbers(LABEL, "permutation").read("0 0.5"))
    assert "at most 1 × 64" in str(Numbers(LABEL, "vector").read("1; 2"))


@pytest.mark.parametrize("typed", ["1 x", "1 nan", "1 0; x", 5, None, "1" * 100_001, [[1, None]], [[]]])
def test_what_is_no_matrix_is_quoted_briefly(typed: object) -> None:
    refusal = str(Numbers(LABEL, "matrix", most_rows=3).read(typed))
    assert "takes numbers such as" in refusal
    assert len(refusal) < 110


def test_a_quoted_value_is_one_short_visible_line() -> None:
    assert shown("a\x1b[2J\nb") == "a�[2J b"
    assert shown("\udce9") == "�"
    assert shown("x" * 50) == "x" * 39 + "…"
    assert len(shown("y" * 1_000_000)) == 40
