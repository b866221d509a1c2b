"""The lab `shuffle`: attention alone does not know the order of words; positions or a causal mask do."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import pytest

from engine.contract.parameters import InvalidParameters
from engine.labs import run
from tests.engine.reports import heatmap, number


@pytest.mark.parametrize("language", ["zh", "en"])
def test_without_positions_the_same_rows_come_in_shuffled_order(language: str) -> None:
    for seed in range(20):
        report = run("shuffle", language=language, seed=seed)
        assert report.values["rows_follow"] is True
        assert number(report, "error") < 1e-12
        assert number(report, "pooled_difference") < 1e-12
        assert number(report, "repeated_difference") < 1e-12
        assert [i.holds for i in report.invariants] == [True, True, True]


@pytest.mark.parametrize(
    ("pe", "mask", "low", "high"), [("sinusoid", "none", 0.23, 13.6), ("none", "causal", 0.14, 15.8)]
)
def test_positions_or_a_causal_mask_change_the_rows_in_every_one_of_100_seeds(
    pe: str, mask: str, low: float, high: float
) -> None:
    reports = [run("shuffle", pe=pe, mask=mask, seed=seed) for seed in range(100)]
    errors = [number(report, "error") for report in reports]
    assert low < min(errors)
    assert max(errors) < high
    assert median(errors) > 1
    assert all(report.values["rows_follow"] is False for report in reports)
    assert all(invariant.holds is True for report in reports for invariant in report.invariants)


def test_under_a_causal_mask_a_repeated_word_gets_another_row() -> None:
    differences = [number(run("shuffle", mask="causal", seed=seed), "repeated_difference") for seed in range(30)]
    assert min(differences) > 0.1


def test_the_shuffled_map_shows_each_word_with_its_former_row() -> None:
    report = run("shuffle", text="a b c", permutation="2 0 1")
    original, shuffled = heatmap(report, "original"), heatmap(report, "shuffled")
    assert shuffled.row_labels == ("c", "a", "b")
    before, difference = (detail.values.rows() for detail in shuffled.details)
    assert before == [original.values.rows()[i] for i in (2, 0, 1)]
    assert max(abs(x) for row in difference for x in row) < 1e-12
    assert shuffled.minimum == -shuffled.maximum


def test_the_drawn_order_is_never_the_identity_and_moves_words_that_differ() -> None:
    for seed in range(60):
        shuffled = heatmap(run("shuffle", text="the the cat", seed=seed), "shuffled")
        assert [label.rstrip("₂") for label in shuffled.row_labels] != ["the", "the", "cat"]


@pytest.mark.parametrize("params", [{"permutation": "0 1 2"}, {"text": "na na na"}])
def test_an_order_that_moves_no_word_is_told_not_failed(params: dict[str, Any]) -> None:
    (invariant,) = run("shuffle", **{"text": "a b c", "mask": "causal", **params}).invariants
    assert invariant.holds is None
    assert str(invariant.detail) == "not checked: the permutation leaves the words as they were"


def test_without_a_repeated_word_there_is_nothing_to_compare() -> None:
    report = run("shuffle", text="a b c")
    assert math.isnan(number(report, "repeated_difference"))
    assert report.invariants[2].holds is None


@pytest.mark.parametrize("length", [2, 3, 5, 9, 24])
@pytest.mark.parametrize(
    ("pe", "mask"), [("none", "none"), ("sinusoid", "none"), ("none", "causal"), ("sinusoid", "causal")]
)
def test_every_invariant_holds_at_every_length(length: int, pe: str, mask: str) -> None:
    text = " ".join(f"w{i}" for i in range(length))
    for seed in range(5):
        report = run("shuffle", text=text, pe=pe, mask=mask, seed=seed)
        assert [str(i.name) for i in report.invariants if i.holds is False] == []


@pytest.mark.parametrize(
    ("permutation", "sentence"),
    [
        ("1 0", "The permutation has 2 numbers, but the text has 3 tokens; write 0 … 2 in any order."),
        ("0 1 1", "permutation must hold each of 0 … 2 exactly once."),
        ("0 1 x", "permutation takes numbers such as “1 0; 0 1”, not “0 1 x”."),
    ],
)
def test_what_is_no_permutation_gets_one_sentence(permutation: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("shuffle", text="a b c", permutation=permutation)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [("permutation", sentence)]
