"""The lab `lstm-step`: the hand case, the gates at their stops, and what may leave the range from −1 to 1."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.parameters import InvalidParameters
from engine.labs import run
from engine.layers.lstm import LSTMGates, remember
from tests.engine.reports import failed, heatmap, number, numbers, table


def test_one_step_by_hand() -> None:
    f, i, g, o, c = (torch.tensor([x], dtype=torch.float64) for x in (1.0, 0.0, 0.5, 2.0, 1.0))
    step = remember(LSTMGates(i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()), c)
    fields = (step.forget_gate, step.input_gate, step.candidate, step.cell, step.output_gate, step.hidden)
    assert [round(field.item(), 4) for field in fields] == [0.7311, 0.5, 0.4621, 0.9621, 0.8808, 0.6564]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_on_the_conveyor_the_cell_stays_and_the_hidden_state_varies(language: str) -> None:
    report = run("lstm-step", override="conveyor", language=language)
    assert report.values["cell_stays"] is True
    assert report.values["hidden_varies"] is True
    assert numbers(report, "c") == [1.0] * 5
    assert len(set(numbers(report, "h"))) == 5
    assert all(0 < h < 0.7616 for h in numbers(report, "h"))  # o · tanh 1
    assert failed(report) == []


def test_from_an_empty_cell_the_conveyor_brings_nothing() -> None:
    report = run("lstm-step", override="conveyor", c0=0)
    assert numbers(report, "c") == numbers(report, "h") == [0.0] * 5
    assert report.values["hidden_varies"] is False


def test_overwriting_makes_the_cell_the_candidate() -> None:
    report = run("lstm-step", override="overwrite")
    assert numbers(report, "c") == numbers(report, "g")
    assert report.values["cell_stays"] is False


def test_a_muted_cell_remembers_and_says_nothing() -> None:
    report = run("lstm-step", override="mute")
    assert numbers(report, "h") == [0.0] * 5
    assert len(set(numbers(report, "c"))) == 5


def test_the_cell_may_leave_the_range_and_the_hidden_state_cannot() -> None:
    text = " ".join(["more"] * 24)
    reports = [run("lstm-step", text=text, hidden=8, forget_bias=5, c0=2, seed=seed) for seed in range(10)]
    assert all(number(report, "largest_cell") > 1 for report in reports)
    assert all(number(report, "largest_hidden") < 1 for report in reports)


def test_a_larger_forget_bias_opens_the_forget_gate() -> None:
    means = [number(run("lstm-step", forget_bias=bias), "mean_forget_gate") for bias in (-3, 0, 1, 5)]
    assert means == sorted(means)
    assert means[0] < 0.15
    assert means[-1] > 0.97


def test_the_same_word_finds_the_same_inputs_but_another_state() -> None:
    rows = table(run("lstm-step", text="the the", hidden=1), "gates").rows
    assert [row[0] for row in rows] == ["the", "the₂"]
    assert rows[0][2] != rows[1][2]  # the gates see h as well


def test_tables_and_maps_show_the_same_numbers() -> None:
    report = run("lstm-step", hidden=3)
    rows = table(report, "gates").rows
    assert len(rows) == 15
    for id, column in (("forget", 2), ("input", 3), ("output", 5), ("cell", 6), ("hidden", 7)):
        flat = [x for row in heatmap(report, id).values.rows() for x in row]
        assert [row[column] for row in rows] == flat
    assert heatmap(report, "forget").minimum == 0
    assert heatmap(report, "cell").minimum == -heatmap(report, "cell").maximum


@settings(max_examples=60)
@given(
    words=st.integers(2, 24),
    hidden=st.integers(1, 8),
    override=st.sampled_from(["none", "conveyor", "overwrite", "mute"]),
    forget_bias=st.floats(-3, 5),
    c0=st.floats(-2, 2),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_whatever_is_held(
    words: int, hidden: int, override: str, forget_bias: float, c0: float, seed: int
) -> None:
    report = run(
        "lstm-step",
        text=" ".join(f"w{i}" for i in range(words)),
        hidden=hidden,
        override=override,
        forget_bias=forget_bias,
        c0=c0,
        seed=seed,
    )
    assert failed(report) == []
    skipped = [str(invariant.detail) for invariant in report.invariants if invariant.holds is None]
    assert skipped == ([] if override == "none" else ["not checked: torch's cell holds no gate"])


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"text": "a"}, "text", "text has 1 token (“a”), but at least 2 are needed to compare them."),
        ({"c0": 2.5}, "c0", "start of the cells c_0 is 2.5, but it must lie between -2.0 and 2.0."),
        (
            {"override": "open"},
            "override",
            "gates held cannot be “open”; choose one of: none, conveyor, overwrite, mute.",
        ),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("lstm-step", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
