"""The lab `additive-attention`: the hand case to four digits, uniform weights from zeros, masked words, any widths."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.parameters import InvalidParameters
from engine.contract.report import Note
from engine.labs import run
from engine.labs.base import Context
from tests.engine.reports import failed, heatmap, number, numbers, table


def test_the_hand_case_gives_the_numbers_of_the_lesson() -> None:
    report = run("additive-attention", weights="hand-case")
    assert numbers(report, "energies") == pytest.approx([1.0, 2.0, 0.0], abs=1e-12)
    assert [round(x, 4) for x in numbers(report, "weights")] == [0.2447, 0.6652, 0.09]
    assert [round(x, 4) for x in numbers(report, "context")] == [0.3348, 0.7553]
    assert all(invariant.holds is True for invariant in report.invariants)


def test_the_temperature_divides_the_energies() -> None:
    weights = numbers(run("additive-attention", weights="hand-case", temperature=2.0), "weights")
    exponentials = [math.exp(energy / 2) for energy in (1, 2, 0)]
    assert weights == pytest.approx([x / sum(exponentials) for x in exponentials], rel=1e-12)


@pytest.mark.parametrize(("language", "words"), [("zh", 5), ("en", 5)])
def test_zero_weights_attend_to_every_word_alike(language: str, words: int) -> None:
    report = run("additive-attention", weights="zero", language=language)
    assert numbers(report, "weights") == pytest.approx([1 / words] * words, abs=1e-15)
    assert number(report, "uniform") == 1 / words
    assert number(report, "entropy") == pytest.approx(math.log(words), rel=1e-12)
    rows = {str(row[0]): row[1:] for row in table(report, "contexts").rows}
    assert rows["ctx, s₁"] == pytest.approx(rows["mean of the states"], abs=1e-12)


def test_masked_words_have_no_weight_and_one_word_always_remains() -> None:
    report = run("additive-attention", src="我 爱 苹果", source_length_masked=3)
    assert numbers(report, "weights") == [1.0, 0.0, 0.0]
    note = report.panel("masked")
    assert isinstance(note, Note)
    assert str(note.text) == "The source has 3 words; one must remain, so 2 are masked."
    assert tuple(numbers(report, "context")) == table(report, "contexts").rows[-1][1:]
    assert failed(report) == []
    some = run("additive-attention", source_length_masked=2)
    assert [panel.id for panel in some.panels] == ["weights", "steps", "contexts"]
    assert numbers(some, "weights")[3:] == [0.0, 0.0]


def test_the_weights_are_those_of_the_formula() -> None:
    report = run("additive-attention", d_s=3, d_h=2, d_a=5, src="a b c d", seed=4)
    context = Context(seed=4)
    generator = context.generator("weights")
    drawn = [
        torch.empty(*shape, dtype=torch.float64).uniform_(
            -1 / math.sqrt(over), 1 / math.sqrt(over), generator=generator
        )
        for shape, over in (((5, 3), 3), ((5, 2), 2), ((5,), 5))
    ]
    state, words = context.normal("decoder states", 3, 3)[0], context.word_vectors("abcd", 2)
    energies = [(drawn[2] @ torch.tanh(drawn[0] @ state + drawn[1] @ word)).item() for word in words]
    assert numbers(report, "energies") == pytest.approx(energies, rel=1e-12)
    assert numbers(report, "weights") == pytest.approx(torch.softmax(torch.tensor(energies), 0).tolist(), rel=1e-6)


@settings(max_examples=30)
@given(
    st.sampled_from(["random", "zero", "hand-case"]),
    *(st.integers(2, 8) for _ in range(3)),
    st.floats(0.1, 5.0),
    st.integers(0, 3),
    st.sampled_from(["a b", "我 爱 我", "the the the the", "😀 a"]),
)
def test_every_invariant_holds_for_all_widths_masks_and_temperatures(
    weights: str, d_s: int, d_h: int, d_a: int, temperature: float, masked: int, src: str
) -> None:
    report = run(
        "additive-attention",
        weights=weights,
        d_s=d_s,
        d_h=d_h,
        d_a=d_a,
        temperature=temperature,
        source_length_masked=masked,
        src=src,
    )
    assert all(invariant.holds is True for invariant in report.invariants)


def test_the_map_shows_three_steps_and_the_energies_behind_them() -> None:
    weights = heatmap(run("additive-attention", src="the cat the mat"), "weights")
    assert weights.row_labels == ("s₁", "s₂", "s₃")
    assert weights.column_labels == ("the", "cat", "the₂", "mat")
    energies = weights.details[0].values.rows()
    for row, energy in zip(weights.values.rows(), energies, strict=True):
        assert row[0] == pytest.approx(row[2], abs=1e-15)  # the same word has the same state
        assert math.log(row[1] / row[0]) == pytest.approx(energy[1] - energy[0], rel=1e-9)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"src": "apple"},
            "source has 1 token (“apple”), but at least 2 are needed to compare them.",
        ),
        ({"d_s": 9}, "decoder width d_s is 9, but it must lie between 2 and 8."),
        ({"source_length_masked": 4}, "masked words at the end is 4, but it must lie between 0 and 3."),
    ],
)
def test_what_cannot_be_compared_gets_one_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("additive-attention", **params)
    assert [str(problem.message) for problem in caught.value.problems] == [sentence]


def test_the_hand_case_needs_no_sentence() -> None:
    assert numbers(run("additive-attention", weights="hand-case", src="x"), "weights")[1] > 0.6
