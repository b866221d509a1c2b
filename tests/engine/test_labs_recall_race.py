"""The lab `recall-race`: the open gate wins, not the kind of layer; all see the same batches."""

from __future__ import annotations

import math

import pytest

from engine.contract import labs as declared
from engine.contract.labs.recall_race import MODELS
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Curves, Report
from engine.labs import run
from tests.engine.reports import failed, number, table


@pytest.fixture(scope="module")
def report() -> Report:
    return run("recall-race", models="lstm,lstm+bias3", steps=80)


def test_over_twenty_distractors_the_default_lstm_guesses_and_the_open_one_knows(report: Report) -> None:
    assert number(report, "accuracy_lstm") < 0.5
    assert number(report, "accuracy_lstm_bias3") > 0.95
    assert report.values["steps_lstm"] == 0
    assert 0 < number(report, "steps_lstm_bias3") < 80
    assert [invariant.holds for invariant in report.invariants] == [True] * 3


def test_a_model_leaves_the_race_when_it_has_solved_the_task(report: Report) -> None:
    curves = report.panel("loss")
    assert isinstance(curves, Curves)
    lstm, opened, level = (list(series.y.flat()) for series in curves.series)
    assert sum(math.isfinite(value) for value in opened) == report.values["steps_lstm_bias3"]
    assert all(math.isfinite(value) for value in lstm)
    assert level[0] == pytest.approx(math.log(4))
    last = [value for value in opened if math.isfinite(value)][-2:]
    assert last[0] >= 0.05 > last[1]


def test_the_gates_cost_weights_in_the_ratio_1_to_3_to_4(report: Report) -> None:
    race = table(run("recall-race", D=5, steps=50), "race")
    weights = dict(zip(MODELS, (int(str(row[4])) for row in race.rows), strict=True))
    cell = 32 * 16 + 32 * 32 + 2 * 32
    rest = 8 * 16 + 32 * 4 + 4
    assert weights == {kind: rest + gates * cell for kind, gates in zip(MODELS, (1, 3, 4, 4, 4), strict=True)}
    assert [row[1] for row in race.rows] == [1.0] * 5  # a distance of five is near for all of them
    assert len(table(report, "race").rows) == 2


def test_the_same_run_has_the_same_losses_however_many_run_beside_it(report: Report) -> None:
    alone = run("recall-race", models="lstm+bias3", steps=80)
    assert alone.values["accuracy_lstm_bias3"] == report.values["accuracy_lstm_bias3"]
    one, both = alone.panel("loss"), report.panel("loss")
    assert isinstance(one, Curves)
    assert isinstance(both, Curves)
    assert one.series[0].y == both.series[1].y


def test_an_empty_race_is_refused() -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("recall-race", models="")
    (problem,) = caught.value.problems
    assert str(problem.message) == "models needs at least one of: rnn, gru, lstm, lstm+bias1, lstm+bias3."


def test_the_estimate_grows_with_everything_that_takes_time() -> None:
    lab = declared.declaration("recall-race")

    def seconds(**given: object) -> float:
        return lab.estimate(build(lab.parameters, given, "en")).seconds

    assert 4 < seconds() < 15
    assert seconds(D=5) < seconds() < seconds(D=80)
    assert seconds(models="rnn") < seconds(models="gru") < seconds()
    assert seconds(steps=50) < seconds() < seconds(hidden=64)


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(3))
def test_over_forty_distractors_only_the_open_gate_remembers(seed: int) -> None:
    report = run("recall-race", D=40, models="rnn,lstm+bias3", seed=seed)
    assert number(report, "accuracy_rnn") < 0.5
    assert number(report, "accuracy_lstm_bias3") > 0.95
    assert failed(report) == []


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(3))
def test_after_300_steps_the_default_lstm_does_not_beat_the_rnn(seed: int) -> None:
    report = run("recall-race", models="rnn,lstm", seed=seed)
    assert number(report, "accuracy_lstm") < 0.5
    assert report.values["lstm_beats_rnn"] is False


@pytest.mark.extreme
@pytest.mark.parametrize("hidden", [16, 64])
@pytest.mark.parametrize("lr", [1e-3, 1e-2])
def test_at_the_corners_of_the_ranges_every_invariant_holds(hidden: int, lr: float) -> None:
    for distractors in (5, 80):
        assert failed(run("recall-race", D=distractors, hidden=hidden, lr=lr, steps=50)) == []
