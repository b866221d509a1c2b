"""The lab `sdpa`: the hand case to four digits, the seven numbers that are no weights, the learner's own matrices."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.parameters import InvalidParameters
from engine.labs import run
from tests.engine.reports import heatmap, number, numbers, table


def rounded(values: list[float]) -> list[float]:
    return [round(value, 4) for value in values]


def test_the_hand_case_gives_the_numbers_of_the_lesson() -> None:
    report = run("sdpa")
    assert rounded(numbers(report, "scores")) == [0.7071, 0.0, 0.7071]
    assert rounded(numbers(report, "weights")) == [0.4011, 0.1978, 0.4011]
    assert [round(x, 3) for x in numbers(report, "output")] == [6.017, 3.983]
    assert rounded(numbers(report, "weights_unscaled")) == [0.4223, 0.1554, 0.4223]
    assert round(number(report, "entropy"), 4) == 1.0534
    assert number(report, "effective_tokens") == pytest.approx(math.exp(number(report, "entropy")), rel=1e-12)
    assert number(report, "uniform_entropy") == pytest.approx(math.log(3), rel=1e-12)
    assert number(report, "largest_weight") == number(report, "second_weight")


def test_the_seven_given_numbers_are_no_weights_until_they_are_normalised() -> None:
    report = run("sdpa", mode="cafe", language="zh")
    assert number(report, "given_sum") == pytest.approx(1.45, abs=1e-12)
    assert rounded(numbers(report, "normalised")) == [0.069, 0.2069, 0.069, 0.2759, 0.0345, 0.2069, 0.1379]
    assert round(number(report, "normalised_largest"), 4) == 0.2759
    assert round(number(report, "entropy"), 4) == 1.7654
    assert round(number(report, "uniform_entropy"), 4) == 1.9459
    given_table = table(report, "given")
    assert [row[0] for row in given_table.rows] == ["他", "常", "在", "咖啡馆", "里", "读", "小说"]
    for _, _, normalised, _, reproduced in given_table.rows:
        assert reproduced == pytest.approx(normalised, rel=1e-12)


def test_the_cafe_queries_find_the_place_and_the_activity() -> None:
    weights = heatmap(run("sdpa", mode="cafe", language="en"), "weights")
    place, activity = weights.values.rows()
    assert weights.column_labels[place.index(max(place))] == "café"
    assert weights.column_labels[activity.index(max(activity))] == "reads"


def test_moving_a_cafe_key_moves_the_attention() -> None:
    keys = "3 0; 0 1; 1 0; 0 0; 1 0; 0 3; 0 2"
    weights = heatmap(run("sdpa", mode="cafe", language="en", keys=keys), "weights")
    assert weights.column_labels[weights.values.rows()[0].index(max(weights.values.rows()[0]))] == "he"


def test_the_cursor_can_follow_a_cell_from_product_to_score_to_weight() -> None:
    weights = heatmap(run("sdpa"), "weights")
    product, score = (detail.values.at(0, 2) for detail in weights.details)
    assert product == 1.0
    assert score == pytest.approx(1 / math.sqrt(2), rel=1e-15)
    exponentials = [math.exp(x) for x in (1 / math.sqrt(2), 0.0, 1 / math.sqrt(2))]
    assert weights.values.at(0, 2) == pytest.approx(exponentials[2] / sum(exponentials), rel=1e-12)


def test_a_small_temperature_sharpens_and_a_large_one_flattens() -> None:
    sharp, formula, flat = (number(run("sdpa", temperature=t), "entropy") for t in (0.1, 1.0, 5.0))
    assert sharp < formula < flat < math.log(3)
    assert sharp == pytest.approx(math.log(2), abs=0.01)  # the two best keys share everything


def test_own_sentences_are_labelled_and_depend_on_the_words() -> None:
    report = run("sdpa", mode="own-sentence", sentence="我 ❤️ the the 猫", d_k=8)
    weights = heatmap(report, "weights")
    assert weights.row_labels == ("我", "❤️", "the", "the₂", "猫")
    rows = weights.values.rows()
    assert rows[2] == pytest.approx(rows[3], abs=1e-15)  # the same word asks the same question
    other = run("sdpa", mode="own-sentence", sentence="我 ❤️ the the 狗", d_k=8)
    assert numbers(other, "weights") != numbers(report, "weights")


matrices = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        *(
            st.lists(st.lists(st.floats(-50, 50), min_size=w, max_size=w), min_size=rows, max_size=rows)
            for rows, w in ((2, width), (3, width), (3, 2))
        )
    )
)


@settings(max_examples=40, deadline=None)
@given(matrices, st.floats(0.1, 5.0), st.booleans())
def test_every_invariant_holds_and_torch_agrees_for_matrices_a_learner_types(
    given_matrices: tuple[list[list[float]], ...], temperature: float, scale: bool
) -> None:
    queries, keys, values = given_matrices
    report = run("sdpa", queries=queries, keys=keys, values=values, temperature=temperature, scale=scale)
    assert [str(i.name) for i in report.invariants if not i.holds] == []
    query, key, value = (torch.tensor(m, dtype=torch.float64)[None] for m in (queries, keys, values))
    divisor = temperature * (math.sqrt(len(keys[0])) if scale else 1.0)
    reference = F.scaled_dot_product_attention(query, key, value, scale=1 / divisor)[0, 0]
    assert numbers(report, "output") == pytest.approx(reference.tolist(), abs=1e-8)


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"keys": "1 0 0; 0 1 0"}, "keys", "Queries have 2 columns and keys have 3; both need the same number."),
        ({"queries": "1 2 3"}, "queries", "Queries have 3 columns and keys have 2; both need the same number."),
        ({"values": "1; 2"}, "values", "There are 3 keys and 2 values; each key needs one value."),
        ({"mode": "cafe", "keys": "1 0; 0 1"}, "keys", "The café sentence has 7 words, but keys K has 2 rows."),
        ({"keys": "1 0; 1"}, "keys", "keys K has rows of 1 and of 2 numbers; all rows must be equally long."),
        ({"temperature": 0.01}, "temperature", "temperature τ is 0.01, but it must lie between 0.1 and 5.0."),
        ({"d_k": 17}, "d_k", "key width d_k is 17, but it must lie between 1 and 16."),
    ],
)
def test_matrices_that_do_not_fit_get_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("sdpa", **params)
    assert [(problem.field, str(problem.message)) for problem in caught.value.problems] == [(field, sentence)]
