"""The lab `lstm-highway`: the famous product is the direct path only, and the whole derivative is larger."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.labs.lstm_highway import LstmHighwayParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves
from engine.gradients.norms import spectral_norms
from engine.labs import run
from engine.labs.base import Context
from engine.labs.lstm_highway import compare, drive
from tests.engine.reports import failed, number, numbers, table


@cache
def driven(
    forget_bias: float, seeds: int, hidden: int = 32
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return (whole, largest direct) of every seed at distance 10 and at distance 50."""
    params = LstmHighwayParams(forget_bias=forget_bias, hidden=hidden)
    at_10, at_50 = [], []
    for seed in range(seeds):
        highway = drive(params, Context(seed=seed))
        whole, direct = spectral_norms(highway.full[[9, 49]]).tolist(), highway.direct.amax(1)[[9, 49]].tolist()
        at_10.append((whole[0], direct[0]))
        at_50.append((whole[1], direct[1]))
    return at_10, at_50


def medians(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Return the medians of the whole derivative, of the direct one and of their ratio."""
    whole, direct = zip(*pairs, strict=True)
    return median(whole), median(direct), median(w / d for w, d in pairs)


def test_at_the_usual_start_the_highway_is_closed() -> None:
    at_10, at_50 = driven(0, 30)
    whole, direct, ratio = medians(at_10)
    assert whole == pytest.approx(1.4e-2, rel=0.4)
    assert direct == pytest.approx(3.2e-3, rel=0.4)
    assert 3 < ratio < 6
    whole, direct, ratio = medians(at_50)
    assert whole == pytest.approx(1e-10, rel=0.5)
    assert 1e-15 < direct < 2e-14  # 4e-15 for the course's three seeds
    assert 1e3 < ratio < 2e4


def test_a_forget_bias_of_1_opens_it_a_little() -> None:
    at_10, at_50 = driven(1, 30)
    whole, direct, ratio = medians(at_10)
    assert whole == pytest.approx(0.258, rel=0.25)
    assert direct == pytest.approx(0.073, rel=0.25)
    assert 2.5 < ratio < 5
    whole, direct, ratio = medians(at_50)
    assert 1e-4 < whole < 5e-4
    assert direct == pytest.approx(5e-7, rel=0.6)
    assert 150 < ratio < 700


def test_with_a_forget_bias_of_3_the_whole_derivative_exceeds_the_product_in_every_one_of_100_seeds() -> None:
    at_10, at_50 = driven(3, 100)
    whole, direct, ratio = medians(at_10)
    assert whole == pytest.approx(2.1, abs=0.2)
    assert direct == pytest.approx(0.67, abs=0.03)
    whole, direct, ratio = medians(at_50)
    assert whole == pytest.approx(5, abs=1.5)
    assert direct == pytest.approx(0.16, abs=0.02)
    assert ratio == pytest.approx(36, abs=12)
    assert all(w > d for w, d in at_10 + at_50)
    assert min(w for w, _ in at_50) > 1


def test_the_same_order_holds_for_narrow_nets_in_60_seeds() -> None:
    assert all(whole > direct for whole, direct in driven(3, 60, 8)[1])


@pytest.mark.parametrize(("bias", "gate"), [(0, 0.50), (1, 0.72), (3, 0.95)])
def test_the_mean_forget_gate_follows_the_bias(bias: float, gate: float) -> None:
    assert number(run("lstm-highway", forget_bias=bias), "mean_forget_gate") == pytest.approx(gate, abs=0.01)


def test_the_prediction_of_the_lesson_is_answered_by_the_values() -> None:
    report = run("lstm-highway", forget_bias=3)
    assert report.values["full_is_larger"] is True
    assert number(report, "full") > 1 > number(report, "direct_largest") > number(report, "direct_mean")
    assert number(report, "ratio") == number(report, "full") / number(report, "direct_largest")
    assert numbers(report, "distances") == [1, 10, 30, 50]
    assert numbers(report, "full_norms")[-1] == number(report, "full")
    assert number(report, "half_life") == pytest.approx(14.4, abs=1.5)


@pytest.mark.parametrize(("w_scale", "low", "high"), [(1, 0.002, 0.05), (5, 2, 300), (20, 3e4, 3e8)])
def test_large_recurrent_weights_make_a_gated_net_explode(w_scale: float, low: float, high: float) -> None:
    params = LstmHighwayParams(T=30, w_scale=w_scale)
    norms = [spectral_norms(drive(params, Context(seed=seed)).full[29:]).item() for seed in range(12)]
    assert low < min(norms)
    assert max(norms) < high


def test_which_cell_remembers_is_a_matter_of_its_start() -> None:
    cells = [compare(50, 32, Context(seed=seed)) for seed in range(30)]
    norm = {name: [cell[name][1] for cell in cells] for name in cells[0]}
    assert 5e-16 < median(norm["rnn"]) < 3e-14
    assert median(norm["gru"]) == pytest.approx(1.6e-10, rel=0.9)
    assert median(norm["lstm"]) == pytest.approx(1.7e-10, rel=0.9)
    assert median(norm["gru_open"]) == pytest.approx(0.18, abs=0.01)
    assert (min(norm["gru_open"]), max(norm["gru_open"])) == pytest.approx((0.16, 0.21), abs=0.01)
    assert median(norm["lstm_open"]) == pytest.approx(6.3, abs=2)
    assert min(norm["lstm_open"]) > 1


def test_the_report_lists_the_other_cells_at_its_distance() -> None:
    report = run("lstm-highway", T=20)
    panel = table(report, "cells")
    assert str(panel.title) == "Other cells at distance 20"
    names = ("rnn", "gru", "lstm", "gru_open", "lstm_open")
    assert [row[1] for row in panel.rows] == [number(report, f"{name}_state") for name in names]
    assert str(panel.rows[3][0]) == "GRU, keep bias 3"


@pytest.mark.parametrize(("path", "curves"), [("direct", 2), ("full", 1), ("both", 3)])
def test_the_chosen_path_is_drawn(path: str, curves: int) -> None:
    report = run("lstm-highway", path=path, T=12)
    panel = report.panel("highway")
    assert isinstance(panel, Curves)
    assert len(panel.series) == curves
    assert list(panel.x.flat()) == list(range(1, 13))
    assert [row[0] for row in table(report, "distances").rows] == [1, 10]


@settings(max_examples=25)
@given(
    forget_bias=st.floats(-1, 5),
    hidden=st.integers(8, 32),
    steps=st.integers(5, 60),
    w_scale=st.floats(1, 20),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_even_for_chaotic_nets(
    forget_bias: float, hidden: int, steps: int, w_scale: float, seed: int
) -> None:
    report = run("lstm-highway", forget_bias=forget_bias, hidden=hidden, T=steps, w_scale=w_scale, seed=seed)
    assert [invariant.holds for invariant in report.invariants] == [True] * 4
    assert failed(report) == []


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"hidden": 4}, "hidden", "hidden width H is 4, but it must lie between 8 and 32."),
        ({"T": 61}, "T", "steps T is 61, but it must lie between 5 and 60."),
        ({"w_scale": 0.5}, "w_scale", "factor on the recurrent weights is 0.5, but it must lie between 1.0 and 20.0."),
        ({"path": "cell"}, "path", "path cannot be “cell”; choose one of: direct, full, both."),
    ],
)
def test_what_is_out_of_range_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("lstm-highway", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
