"""The lab `train-tricks`: warm-up, smoothing, accumulation and dropout, to the digits of the lesson."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves
from engine.labs import run
from engine.labs.train_tricks.smoothing import example_probabilities
from tests.engine.reports import failed, heatmap, number, table


def test_the_rates_of_the_paper_are_those_of_the_lesson() -> None:
    report = run("train-tricks")
    rates = {row[0]: row[1] for row in table(report, "rates").rows}
    expected = {1: 1.747e-7, 1000: 1.747e-4, 4000: 6.988e-4, 8000: 4.941e-4, 16000: 3.494e-4}
    assert {step: rates[step] for step in expected} == pytest.approx(expected, rel=2e-4)
    assert number(report, "share_at_4") == pytest.approx(0.5, rel=1e-12)
    assert report.values["peak_step"] == 4000
    assert all(invariant.holds is True for invariant in report.invariants)


def test_the_worked_example_of_width_16_and_warm_up_4() -> None:
    report = run("train-tricks", d=16, warmup=4)
    curve = report.panel("schedule")
    assert isinstance(curve, Curves)
    rates = dict(zip(curve.x.flat(), curve.series[0].y.flat(), strict=True))
    assert [rates[step] for step in (1, 2, 4, 9, 16)] == pytest.approx([0.03125, 0.0625, 0.125, 0.25 / 3, 0.0625])


@settings(max_examples=30)
@given(st.integers(16, 1024), st.integers(4, 8000))
def test_the_schedule_is_the_smaller_of_its_two_branches(d: int, warmup: int) -> None:
    report = run("train-tricks", d=d, warmup=warmup)
    assert failed(report) == []
    curve = report.panel("schedule")
    assert isinstance(curve, Curves)
    rate, rising, falling = (list(series.y.flat()) for series in curve.series)
    for smaller, *branches in zip(rate, rising, falling, strict=True):
        assert smaller == pytest.approx(min(b for b in branches if not math.isnan(b)), rel=1e-12)


def test_smoothing_has_the_numbers_of_the_lesson() -> None:
    report = run("train-tricks", trick="smoothing")
    assert number(report, "q_right") == pytest.approx(0.92, abs=1e-12)
    assert number(report, "q_other") == pytest.approx(0.02, abs=1e-12)
    assert number(report, "hard_loss") == pytest.approx(0.3567, abs=5e-5)
    assert number(report, "smoothed_loss") == pytest.approx(0.5401, abs=5e-5)
    assert number(report, "least_loss") == pytest.approx(0.3897, abs=5e-5)
    assert number(report, "best_gap") == pytest.approx(3.829, abs=5e-4)
    assert example_probabilities(5).tolist() == pytest.approx([0.7, 0.1, 0.1, 0.05, 0.05])


@pytest.mark.parametrize(("eps", "gap"), [(0.1, 2.94), (0.3, 1.73)])
def test_the_best_gap_between_two_classes(eps: float, gap: float) -> None:
    assert number(run("train-tricks", trick="smoothing", eps=eps, K=2), "best_gap") == pytest.approx(gap, abs=0.01)


def test_without_smoothing_the_best_gap_is_infinite_and_the_least_loss_0() -> None:
    report = run("train-tricks", trick="smoothing", eps=0)
    assert report.values["best_gap"] == math.inf
    assert report.values["least_loss"] == 0.0
    assert report.values["hard_loss"] == report.values["smoothed_loss"]
    assert failed(report) == []


@settings(max_examples=30)
@given(st.floats(0, 0.3), st.integers(2, 10))
def test_the_smoothed_loss_turns_where_the_gap_is_best(eps: float, classes: int) -> None:
    report = run("train-tricks", trick="smoothing", eps=eps, K=classes)
    assert failed(report) == []
    curves = report.panel("gap")
    assert isinstance(curves, Curves)
    gaps, smoothed = list(curves.x.flat()), list(curves.series[1].y.flat())
    lowest = gaps[smoothed.index(min(smoothed))]
    assert lowest == pytest.approx(min(number(report, "best_gap"), gaps[-1]), abs=0.11)


@pytest.mark.parametrize("seed", range(8))
def test_parts_of_unequal_size_need_weights(seed: int) -> None:
    report = run("train-tricks", trick="accumulation", seed=seed)
    assert 0.1 < number(report, "difference") < 1.2
    assert number(report, "by_size") < 1e-14
    assert number(report, "by_size_float32") < 1e-6
    assert all(invariant.holds is True for invariant in report.invariants)
    right = run("train-tricks", trick="accumulation", weighting="by size", seed=seed)
    assert right.values["difference"] == right.values["by_size"]


def test_parts_of_equal_size_hide_the_error() -> None:
    report = run("train-tricks", trick="accumulation", sizes="4,4,4")
    assert number(report, "by_count") < 1e-14
    assert [invariant.holds for invariant in report.invariants] == [True, True, True, None]
    assert [row[1] for row in table(report, "parts").rows] == [4, 4, 4]


def test_dropout_keeps_the_mean_and_makes_the_passes_differ() -> None:
    report = run("train-tricks", trick="dropout", p=0.4)
    assert number(report, "mean") == pytest.approx(1.0, abs=0.03)
    assert number(report, "variance") == pytest.approx(0.4 / 0.6, abs=0.03)
    assert number(report, "kept_value") == pytest.approx(1 / 0.6)
    assert number(report, "changed") == pytest.approx(2 * 0.4 * 0.6, abs=0.02)
    assert all(invariant.holds is True for invariant in report.invariants)
    shown = {round(value, 9) for row in heatmap(report, "mask").values.rows() for value in row}
    assert shown == {0.0, round(1 / 0.6, 9)}


@pytest.mark.parametrize("params", [{"mode": "eval", "p": 0.9}, {"p": 0}])
def test_evaluation_and_p_0_change_nothing(params: dict[str, Any]) -> None:
    report = run("train-tricks", trick="dropout", **params)
    assert (report.values["mean"], report.values["variance"], report.values["changed"]) == (1.0, 0.0, 0.0)
    assert failed(report) == []


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("p", [0.01, 0.5, 0.9])
def test_the_mean_stays_within_five_standard_errors_in_every_seed(p: float, seed: int) -> None:
    assert failed(run("train-tricks", trick="dropout", p=p, seed=seed)) == []


def test_dropout_repeats_whatever_was_drawn_before() -> None:
    first = run("train-tricks", trick="dropout").values
    torch.rand(7)
    assert run("train-tricks", trick="dropout").values == first


def test_a_form_shows_only_the_parameters_of_its_trick() -> None:
    for trick, fields in (("warm-up", ["d", "warmup"]), ("dropout", ["p", "mode"])):
        params = TrainTricksParams(trick=trick)
        assert [name for name in TrainTricksParams.__struct_fields__ if params.relevant(name)] == ["trick", *fields]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"d": 8}, "width d is 8, but it must lie between 16 and 1024."),
        ({"eps": 0.5}, "smoothing ε is 0.5, but it must lie between 0.0 and 0.3."),
        ({"sizes": "5,5,2"}, "sizes of the parts cannot be “5,5,2”; choose one of: 4,4,4, 6,4,2."),
        ({"p": 1}, "dropout p is 1, but it must lie between 0.0 and 0.9."),
    ],
)
def test_what_is_out_of_range_gets_one_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("train-tricks", **params)
    assert [str(problem.message) for problem in caught.value.problems] == [sentence]
