"""The lab `backprop`: the worked example to the digit, three ways to a gradient that agree, XOR and what it needs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.contract import labs as declared
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Curves, Partial, Progress
from engine.labs import run, run_events
from engine.labs.backprop.trace import DIFFERENCE
from tests.engine.reports import failed, heatmap, number, numbers, table


def test_the_worked_example_has_the_numbers_of_the_lesson() -> None:
    report = run("backprop")
    assert numbers(report, "a") == [-1.0, 1.5]
    assert numbers(report, "h") == [0.0, 1.5]
    assert (number(report, "y"), number(report, "loss")) == (3.5, 0.125)
    assert numbers(report, "gradient_w2") == [0.0, 0.75]
    assert numbers(report, "gradient_w1") == [0.0, 0.0, 1.0, 2.0]
    assert numbers(report, "gradient_b1") == [0.0, 1.0]
    assert number(report, "gradient_b2") == 0.5
    assert number(report, "gradient_squared") == 6.8125
    assert number(report, "predicted_drop") == pytest.approx(0.0681, abs=5e-5)
    assert number(report, "real_drop") == pytest.approx(0.0587, abs=5e-5)
    assert number(report, "y_after") == pytest.approx(3.3642, abs=5e-5)
    assert [invariant.holds for invariant in report.invariants] == [True, True, True]


@pytest.mark.parametrize(("lr", "loss"), [(0.005, 0.09331), (0.01, 0.06632), (0.05, 0.01445), (0.1, 0.33415)])
def test_a_step_in_the_right_direction_can_be_too_long(lr: float, loss: float) -> None:
    report = run("backprop", lr=lr)
    assert number(report, "loss_after") == pytest.approx(loss, abs=5e-6)
    assert report.values["loss_falls"] is (lr < 0.1)
    assert number(report, "loss_small_rate") == pytest.approx(0.06632, abs=5e-6)
    assert report.values["better_than_small_rate"] is (lr == 0.05)


inputs = st.floats(-3, 3)


@given(inputs, inputs, st.floats(-3, 5), st.floats(0.001, 0.01))
def test_three_ways_to_the_gradient_agree_and_small_steps_help_for_every_example(
    x1: float, x2: float, target: float, lr: float
) -> None:
    report = run("backprop", x1=x1, x2=x2, target=target, lr=lr)
    assert failed(report) == []
    at_kink = any(abs(a) <= 1e-3 for a in numbers(report, "a"))
    assert (report.invariants[0].holds is None) is at_kink
    assert any(panel.id == "kink" for panel in report.panels) is at_kink


def test_at_the_kink_the_difference_takes_the_mean_of_the_slopes_and_autograd_takes_0() -> None:
    report = run("backprop", x1=1, x2=1)
    (row,) = (row for row in table(report, "trace").rows if row[0] == "a[1]")
    _, value, by_hand, automatic, difference = row
    assert (value, by_hand, automatic) == (0.0, 0.0, 0.0)
    upstream = numbers(report, "gradient_h")[0]
    assert difference == pytest.approx(
        upstream / 2, abs=2 * DIFFERENCE
    )  # the loss bends: the error of the mean is of the order of ε


def test_the_table_lists_every_node_and_weight_once() -> None:
    names = [row[0] for row in table(run("backprop"), "trace").rows]
    weights = ["W₁[1,1]", "W₁[1,2]", "W₁[2,1]", "W₁[2,2]", "b₁[1]", "b₁[2]", "W₂[1]", "W₂[2]", "b₂"]
    assert names == ["a[1]", "a[2]", "h[1]", "h[2]", "y", *weights]


def test_the_curve_of_rates_has_its_minimum_inside_and_passes_through_the_chosen_rate() -> None:
    curves = run("backprop").panel("rates")
    assert isinstance(curves, Curves)
    after, before = (list(series.y.flat()) for series in curves.series)
    assert before == [0.125] * len(after)
    assert 0 < after.index(min(after)) < len(after) - 1
    assert after[-1] > 0.125


@pytest.mark.parametrize("seed", range(3))
def test_four_hidden_units_learn_xor_and_one_cannot(seed: int) -> None:
    learned = run("backprop", mode="xor", seed=seed)
    assert learned.values["solved"] is True
    assert number(learned, "loss") < 0.1
    assert failed(learned) == []
    alone = run("backprop", mode="xor", hidden=1, steps=300, seed=seed)
    assert alone.values["solved"] is False
    assert all(invariant.holds is True for invariant in alone.invariants)


@pytest.mark.extreme
def test_more_units_learn_xor_in_more_seeds() -> None:
    solved = {
        hidden: sum(
            run("backprop", mode="xor", hidden=hidden, seed=seed).values["solved"] is True for seed in range(10)
        )
        for hidden in (1, 2, 4, 8)
    }
    assert solved[1] == 0
    assert 1 <= solved[2] <= 9
    assert solved[4] == solved[8] == 10


def test_without_a_hidden_layer_the_loss_of_xor_stays_at_ln_2() -> None:
    assert number(run("backprop", mode="xor"), "loss_no_hidden") == pytest.approx(math.log(2), abs=1e-5)


def test_the_plane_agrees_with_the_truth_table() -> None:
    report = run("backprop", mode="xor")
    plane = heatmap(report, "plane")
    for x1, x2, target, p, _ in table(report, "truth").rows:
        row, column = plane.row_labels.index(f"{x2:.1f}"), plane.column_labels.index(f"{x1:.1f}")
        assert plane.values.at(row, column) == pytest.approx(p, abs=1e-6)
        assert (plane.values.at(row, column) > 0.5) is (target == 1)


def test_xor_shows_its_loss_while_it_learns() -> None:
    params = build(declared.declaration("backprop").parameters, {"mode": "xor", "steps": 2000}, "en")
    events = list(run_events("backprop", params))
    partial = [event for event in events if isinstance(event, Partial)]
    assert [event for event in events if isinstance(event, Progress)]
    curves = partial[0].panels[0]
    assert isinstance(curves, Curves)
    learned, flat, level = (list(series.y.flat()) for series in curves.series)
    assert learned[0] == pytest.approx(math.log(2), abs=0.3)
    assert math.isnan(learned[-1])
    assert math.isnan(flat[-1])
    assert level == [math.log(2)] * 2000


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"x1": 4}, "input x₁ is 4, but it must lie between -3.0 and 3.0."),
        ({"mode": "sum"}, "mode cannot be “sum”; choose one of: trace, xor."),
        ({"hidden": 9}, "hidden units is 9, but it must lie between 1 and 8."),
    ],
)
def test_what_is_out_of_range_gets_one_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("backprop", **params)
    assert [str(problem.message) for problem in caught.value.problems] == [sentence]
