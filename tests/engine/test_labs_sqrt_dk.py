"""The lab `sqrt-dk`: variance, saturation and the vanishing gradient of the softmax, in the bounds of many seeds."""

from __future__ import annotations

import math

import pytest
import torch

from engine.contract import labs as declared
from engine.contract.labs.sqrt_dk import WIDTHS
from engine.contract.parameters import build
from engine.contract.report import Curves, Progress, Report
from engine.labs import run, run_events
from engine.labs.sqrt_dk import _softmax_statistics
from tests.engine.reports import heatmap, number, table

# d_k: unscaled entropy, largest weight and mean ‖J‖, then the same divided by √d_k (16 keys, 2000 trials)
TABLE = {
    1: (2.44, 0.21, 0.283, 2.44, 0.21, 0.283),
    4: (1.77, 0.43, 0.323, 2.39, 0.23, 0.297),
    16: (0.911, 0.68, 0.280, 2.37, 0.24, 0.303),
    64: (0.425, 0.84, 0.184, 2.36, 0.24, 0.304),
    256: (0.188, 0.93, 0.096, 2.36, 0.25, 0.305),
    1024: (0.092, 0.96, 0.051, 2.36, 0.25, 0.306),
}


@pytest.fixture(scope="module")
def report() -> Report:
    return run("sqrt-dk", d_k=1024)


def test_the_table_has_the_numbers_of_the_course(report: Report) -> None:
    rows = table(report, "widths").rows
    assert len(rows) == 12
    for unscaled, scaled in zip(rows[::2], rows[1::2], strict=True):
        measured = [float(str(cell)) for row in (unscaled, scaled) for cell in row[3:6]]
        # Another stream of random numbers: agreement within the sampling error of 2000 trials.
        assert measured == pytest.approx(TABLE[int(str(unscaled[0]))], abs=0.035)


@pytest.mark.parametrize("seed", range(5))
def test_unscaled_scores_of_width_1024_saturate_and_the_gradient_vanishes_in_every_seed(seed: int) -> None:
    report = run("sqrt-dk", d_k=1024, seed=seed)
    assert number(report, "max_weight") == pytest.approx(0.96, abs=0.01)
    assert 1e-5 < number(report, "gradient_median") < 3e-5
    assert number(report, "gradient_median_scaled") == pytest.approx(0.305, abs=0.01)
    assert number(report, "max_weight_scaled") == pytest.approx(0.25, abs=0.02)
    assert [str(i.name) for i in report.invariants if not i.holds] == []


def test_dividing_by_d_k_makes_rows_nearly_uniform() -> None:
    report = run("sqrt-dk", d_k=1024, trials=200, scale=("d_k",))
    assert number(report, "entropy_dk") == pytest.approx(math.log(16), abs=0.005)
    assert number(report, "max_weight") == number(report, "max_weight_dk") < 0.07


def test_plain_names_belong_to_the_first_chosen_scaling(report: Report) -> None:
    assert report.values["max_weight"] == report.values["max_weight_none"]
    only_scaled = run("sqrt-dk", d_k=1024, scale="sqrt")
    assert only_scaled.values["max_weight"] == only_scaled.values["max_weight_sqrt"]
    assert only_scaled.values["max_weight_sqrt"] == report.values["max_weight_scaled"]
    assert "max_weight_none" not in only_scaled.values


def test_all_widths_share_their_draws_so_that_the_chosen_one_changes_no_curve(report: Report) -> None:
    other = run("sqrt-dk", d_k=4)
    for id in ("entropy", "max-weight", "gradient"):
        curves, others = report.panel(id), other.panel(id)
        assert isinstance(curves, Curves)
        assert curves == others
        assert list(curves.x.flat()) == list(WIDTHS)


def test_the_example_row_is_shown_before_and_after_scaling(report: Report) -> None:
    example = heatmap(report, "example")
    assert example.row_labels == ("q·k", "q·k/√d_k")
    before, after = example.values.rows()
    assert sum(before) == pytest.approx(1.0, abs=1e-12)
    assert max(before) > max(after)


def test_the_norm_is_that_of_the_softmax_jacobian_even_where_it_is_tiny() -> None:
    products = torch.randn(6, 3, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 20
    _, _, norms, _ = _softmax_statistics(products)
    for width in range(6):
        for trial in range(3):
            scores = products[width, trial]
            jacobian = torch.func.jacrev(lambda z: torch.softmax(z, dim=-1))(scores)
            assert norms[width, 0, trial].item() == pytest.approx(jacobian.norm().item(), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(("keys", "trials"), [(2, 100), (64, 100), (2, 5000)])
def test_the_corners_of_the_ranges_hold_every_invariant(keys: int, trials: int) -> None:
    report = run("sqrt-dk", keys=keys, trials=trials, scale="none,sqrt,d_k")
    assert [str(i.name) for i in report.invariants if not i.holds] == []


def test_progress_grows_towards_1() -> None:
    params = build(declared.declaration("sqrt-dk").parameters, {"trials": 1000}, "en")
    fractions = [event.fraction for event in run_events("sqrt-dk", params) if isinstance(event, Progress)]
    assert len(fractions) >= 3
    assert fractions == sorted(fractions)
    assert all(0 <= fraction < 1 for fraction in fractions)
