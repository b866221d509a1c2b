"""The lab `norm-order`: sizes at the start in the bounds of many seeds, and what trains, in short and in full."""

from __future__ import annotations

import math

import pytest

from engine.contract import labs as declared
from engine.contract.labs.norm_order import ORDERS
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Curves, Partial, Progress, Report
from engine.labs import run, run_events
from engine.labs.norm_order.stack import SUFFIXES
from tests.engine.reports import failed, number, table

# Layers: gradient of the first and last layer and RMS of the top, medians of three seeds of the course.
COURSE = {
    6: {"post": (0.47, 0.50, 1.0), "pre": (0.39, 0.26, 2.0), "no-norm": (5.8, 5.0, 4.2)},
    12: {"post": (0.45, 0.55, 1.0), "pre": (0.39, 0.18, 2.7), "no-norm": (923, 56, 32.5)},
    24: {
        "post": (0.47, 0.73, 1.0),
        "pre": (0.44, 0.18, 3.95),
        "no-residual": (0.64, 1.56, 1.0),
        "no-norm": (1.3e7, 4.5e3, 1921),
    },
}
SPREAD = {"post": 8, "pre": 2, "no-residual": 4, "no-norm": 60}  # how far apart seeds are, as a factor, at 24 layers


@pytest.fixture(scope="module", params=sorted(COURSE))
def start(request: pytest.FixtureRequest) -> tuple[int, Report]:
    """Return a number of layers and its report."""
    return request.param, run("norm-order", layers=request.param)


def test_gradients_and_sizes_are_those_of_the_course_within_the_spread_of_seeds(start: tuple[int, Report]) -> None:
    layers, report = start
    for order, (first, last, rms) in COURSE[layers].items():
        name, factor = SUFFIXES[order], SPREAD[order]
        assert first / factor < number(report, f"gradient_first_{name}") < first * factor
        assert last / factor < number(report, f"gradient_last_{name}") < last * factor
        assert number(report, f"rms_{name}") == pytest.approx(rms, rel=0.5 if order == "no-norm" else 0.1)
    assert failed(report) == []


def test_curves_and_table_hold_every_order_and_layer(start: tuple[int, Report]) -> None:
    layers, report = start
    for id, first in (("gradients", "gradient_first"), ("activations", "rms_first")):
        curves = report.panel(id)
        assert isinstance(curves, Curves)
        assert [str(series.name) for series in curves.series] == ["post-norm", "pre-norm", "no residual", "no norm"]
        assert list(curves.x.flat()) == list(range(1, layers + 1))
        assert [series.y.at(0) for series in curves.series] == [report.values[f"{first}_{SUFFIXES[o]}"] for o in ORDERS]
    rows = table(report, "start").rows
    assert [row[4] for row in rows] == [report.values[f"rms_{SUFFIXES[order]}"] for order in ORDERS]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [32, 64])
def test_without_norm_24_layers_explode_from_a_xavier_start_in_every_seed(d: int, seed: int) -> None:
    report = run("norm-order", layers=24, order="no-norm", d=d, seed=seed)
    assert number(report, "rms_no_norm") > (1000 if d == 64 else 500)
    assert number(report, "gradient_first_no_norm") > 1e4
    assert failed(report) == []


@pytest.mark.parametrize("layers", [1, 3, 4])
def test_shallow_stacks_hold_their_invariants(layers: int) -> None:
    report = run("norm-order", layers=layers, d=32)
    assert failed(report) == []
    growth = [invariant.holds for invariant in report.invariants if "stream grows" in str(invariant.name)]
    assert growth == [True if layers >= 4 else None]


def test_one_order_alone_has_its_own_values_and_those_it_has_among_others() -> None:
    alone, among = run("norm-order", layers=4, order=("pre",)), run("norm-order", layers=4)
    assert set(alone.values) == {"gradient_first_pre", "gradient_last_pre", "rms_first_pre", "rms_pre"}
    assert {name: among.values[name] for name in alone.values} == alone.values


def test_an_empty_choice_of_orders_is_refused() -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("norm-order", order=())
    assert [str(p.message) for p in caught.value.problems] == [
        "order needs at least one of: post, pre, no-residual, no-norm."
    ]


def test_a_short_training_tells_how_far_it_is_and_shows_its_losses() -> None:
    given = {"train": True, "steps": 25, "layers": 2, "order": "post,no-norm"}
    params = build(declared.declaration("norm-order").parameters, given, "en")
    events = list(run_events("norm-order", params))
    report = events[-1]
    assert isinstance(report, Report)
    fractions = [event.fraction for event in events if isinstance(event, Progress)]
    assert len(fractions) >= 3
    assert fractions == sorted(fractions)
    assert any(isinstance(event, Partial) for event in events)
    losses = report.panel("loss")
    assert isinstance(losses, Curves)
    assert [len(series.y.flat()) for series in losses.series] == [25, 25, 25]
    assert losses.series[0].y.at(24) == report.values["loss_post"]
    assert max(losses.series[1].y.flat()) == report.values["highest_loss_no_norm"]
    assert report.values["chance_loss"] == math.log(12)
    assert [row[1] for row in table(report, "trained").rows] == [
        report.values[f"loss_{n}"] for n in ("post", "no_norm")
    ]
    assert failed(report) == []
    assert [i.holds for i in report.invariants[-2:]] == [None, None]  # 25 steps say nothing yet


def test_pre_norm_learns_at_the_high_rate() -> None:
    report = run("norm-order", train=True, order="pre", layers=1)
    assert number(report, "loss_pre") < 0.1
    assert report.values["learned_pre"] is True
    assert report.invariants[-1].holds is True


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(4))
def test_at_the_high_rate_only_pre_norm_learns_without_warm_up(seed: int) -> None:
    report = run("norm-order", train=True, layers=1, seed=seed)
    assert number(report, "loss_post") > 2.3
    assert number(report, "loss_pre") < 0.1
    assert number(report, "loss_no_residual") > 2.3
    assert number(report, "loss_no_norm") > 2.2
    assert number(report, "highest_loss_no_norm") > 3
    assert failed(report) == []


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(4))
def test_warm_up_lets_post_norm_learn_at_the_high_rate(seed: int) -> None:
    report = run("norm-order", train=True, layers=1, order="post", warmup=50, seed=seed)
    assert number(report, "loss_post") < 0.6
    assert failed(report) == []
