"""Answers as people type them are understood, and judged by the file's answer or by the run."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.course.answers import read_number, read_shape
from tutor.course.grade import grade_prediction, grade_quiz, shown_options
from tutor.course.model import Answer, Option, Predict, Quiz

OPTIONS = (
    Option("equal", "equal", True, "equal scores"),
    Option("half each", "half", False, "e⁰ is 1"),
    Option("one third", "third", False, "not three"),
)


def quiz(type: str, answer: Answer = None, **more: object) -> Quiz:
    fields = {"options": (), "answer_from": "", "tolerance": 0.0, "accept": (), "explain": "so", "line": 1} | more
    return Quiz(id="Q", type=type, ask="?", answer=answer, **fields)  # type: ignore[arg-type]


def predict(type: str, answer: Answer = None, **more: object) -> Predict:
    fields = {"options": (), "answer_from": "", "tolerance": 0.0, "explain": "so", "unit": "", "line": 1} | more
    return Predict(id="p", type=type, ask="?", answer=answer, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "0.4",
        ".4",
        "0.40",
        "2/5",
        "40%",
        "40 %",
        "４０％",
        "0。4",
        "０．４",
        "4e-1",
        "4×10^-1",
        "4×10⁻¹",
        "+.4",
        "约0.4",
        "≈ .4",
    ],
)
def test_a_number_may_be_typed_in_many_ways(text: str) -> None:
    number = read_number(text)
    assert number is not None
    assert math.isclose(number, 0.4)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e-5", 1e-5), ("10^-5", 1e-5), ("10⁻⁵", 1e-5), ("−3", -3.0), ("262,400", 262400.0), ("262，400", 262400.0)],
)
def test_powers_signs_and_thousands_are_read(text: str, number: float) -> None:
    assert read_number(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "abc", "0.4 or so", "1/0", "nan", "inf", "1e999", "0x10", "1,2", "--1", "9" * 200]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    assert read_number(text) is None


@given(st.text(max_size=60))
def test_no_answer_whatever_makes_the_grader_fail(text: str) -> None:
    for item in (quiz("number", 0.4), quiz("shape", ("2", "3")), quiz("text", None, accept=("x",))):
        assert grade_quiz(item, text).right in (True, False, None)


def test_a_number_is_right_within_its_tolerance() -> None:
    item = quiz("number", 0.5, tolerance=0.001)
    assert grade_quiz(item, "0.5009").right is True
    assert grade_quiz(item, "0.502").right is False
    assert grade_quiz(quiz("number", 16384), "16384").right is True
    assert grade_quiz(quiz("number", 16384), "16385").right is False


def test_an_answer_that_is_no_number_is_not_counted_as_wrong() -> None:
    verdict = grade_quiz(quiz("number", 0.5), "a half")
    assert verdict.right is None
    assert str(verdict.problem) == "“a half” is not a number; write 0.4, 2/5, 40% or 1e-5."


@pytest.mark.parametrize(
    "text",
    [
        "(2,3,5), (2,3,6)",
        "（2，3，5），（2，3，6）",
        "2 3 5 2 3 6",
        "2×3×5; 2×3×6",
        "２、３、５、２、３、６",
        "[2, 3, 5] [2, 3, 6]",
    ],
)
def test_a_shape_may_be_typed_in_many_ways(text: str) -> None:
    assert grade_quiz(quiz("shape", ("2", "3", "5", "2", "3", "6")), text).right is True


def test_a_shape_with_a_wrong_number_is_wrong_and_with_a_missing_one_is_asked_again() -> None:
    item = quiz("shape", ("2", "3", "5"))
    assert grade_quiz(item, "(2,5,3)").right is False
    verdict = grade_quiz(item, "(2,3)")
    assert (verdict.right, str(verdict.problem)) == (None, "The answer has 3 numbers, yours has 2.")


def test_a_shape_may_hold_letters() -> None:
    assert read_shape("（B，T，d_k）") == ("B", "T", "d_k")
    assert grade_quiz(quiz("shape", ("B", "T", "d_k")), "(b, t, d_k)").right is True


def test_a_text_is_compared_whole_never_as_a_part() -> None:
    item = quiz("text", None, accept=("permutation equivariance", "置换等变性"))
    assert grade_quiz(item, "  Permutation  Equivariance. ").right is True
    assert grade_quiz(item, "置换等变性。").right is True
    assert grade_quiz(item, "no permutation equivariance").right is False
    assert grade_quiz(item, "equivariance").right is False


def test_a_choice_explains_the_option_that_was_chosen() -> None:
    item = quiz("choice", "equal", options=OPTIONS)
    right, wrong = grade_quiz(item, "equal"), grade_quiz(item, "half")
    assert (right.right, right.why, right.explain) == (True, "equal scores", "so")
    assert (wrong.right, wrong.why, wrong.correct) == (False, "e⁰ is 1", "equal")
    assert grade_quiz(item, "quarter").right is None


def test_several_right_options_must_all_be_chosen() -> None:
    item = quiz("multi", ("equal", "half"), options=OPTIONS)
    assert grade_quiz(item, ["half", "equal"]).right is True
    assert grade_quiz(item, ["half"]).right is False
    assert grade_quiz(item, ["half", "equal", "third"]).right is False
    assert grade_quiz(quiz("multi", "half", options=OPTIONS), ["half"]).right is True


def test_a_prediction_is_answered_by_the_run() -> None:
    item = predict("number", answer_from="wide.max_weight", tolerance=0.1)
    values = {"wide": {"max_weight": 0.9567}}
    hit, miss = grade_prediction(item, "0.9", values), grade_prediction(item, "30%", values)
    assert (hit.hit, hit.actual, miss.hit) == (True, "0.9567", False)
    assert hit.error == pytest.approx(-0.0567)
    assert grade_prediction(item, "0.9", {}).hit is None


def test_a_value_that_is_not_finite_is_never_hit() -> None:
    item = predict("number", answer_from="a.b", tolerance=0.1)
    assert grade_prediction(item, "1", {"a": {"b": float("nan")}}).hit is False
    assert grade_prediction(item, "1", {"a": {"b": float("inf")}}).hit is False


def test_a_choice_can_be_answered_by_a_value_of_the_run() -> None:
    item = predict("choice", answer_from="m.follows", options=(Option("yes", "true"), Option("no", "false")))
    assert grade_prediction(item, "true", {"m": {"follows": True}}).hit is True
    assert grade_prediction(item, "true", {"m": {"follows": False}}).hit is False


def test_a_direction_is_hit_or_missed() -> None:
    item = predict("direction", "up", options=(Option("it grows", "up"), Option("it shrinks", "down")))
    assert (grade_prediction(item, "up", {}).hit, grade_prediction(item, "down", {}).hit) == (True, False)
    assert grade_prediction(item, "up", {}).actual == "it grows"


def test_options_are_shuffled_and_always_the_same_for_the_same_salt() -> None:
    item = quiz("choice", "equal", options=OPTIONS)
    orders = {tuple(option.value for option in shown_options(item, str(salt))) for salt in range(40)}
    assert len(orders) == 6
    assert shown_options(item, "7") == shown_options(item, "7")


def test_directions_keep_their_order() -> None:
    item = predict("direction", "up", options=(Option("it grows", "up"), Option("it shrinks", "down")))
    assert [option.value for option in shown_options(item, "any")] == ["up", "down"]
