"""The lab `jacobian`: the table of the course, the bounds, and what the eigenvalues do not say."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.labs.jacobian import JacobianParams
from engine.contract.report import Curves
from engine.gradients.norms import spectral_norms
from engine.labs import run
from engine.labs.base import Context
from engine.labs.jacobian import SETTINGS, build
from tests.engine.reports import failed, number, numbers, table

# ρ: ‖J‖ at distances 10 and 50 for inputs of scale 0, 0.5, 1 and for no activation: medians of five seeds, H = 32.
COURSE = {
    0.5: ((2.9e-3, 2.3e-15), (4.9e-4, 1.0e-19), (3.7e-5, 3.5e-25), (2.9e-3, 2.3e-15)),
    0.9: ((1.01, 1.3e-2), (0.128, 2.8e-8), (0.0136, 1.5e-12), (1.02, 1.3e-2)),
    1.0: ((2.81, 1.75), (0.325, 2.1e-6), (0.0354, 1.6e-10), (2.94, 2.54)),
    1.1: ((5.41, 8.7), (0.648, 6.1e-5), (0.0803, 4.2e-9), (7.62, 298)),
    1.5: ((23.7, 11.3), (5.45, 0.068), (1.11, 1.9e-4), (169, 1.6e9)),
}


@cache
def norms(rho: float, input_scale: float, act: str, seeds: int, matrix: str = "gaussian") -> torch.Tensor:
    """Return ‖∂h_k/∂h_0‖ at k = 10 and 50 for many seeds, (seeds, 2)."""
    params = JacobianParams(rho=rho, input_scale=input_scale, act=act, matrix=matrix)
    nets = (build(params, Context(seed=seed)) for seed in range(seeds))
    return torch.stack([spectral_norms(net.jacobians()[0][[9, 49]]) for net in nets])


@pytest.mark.parametrize("rho", COURSE)
def test_every_number_of_the_courses_table_is_a_median_that_five_seeds_may_well_have(rho: float) -> None:
    draws = torch.randint(40, (4000, 5), generator=torch.Generator().manual_seed(0))
    for (_, setting), course in zip(SETTINGS.values(), COURSE[rho], strict=True):
        measured = norms(rho, float(setting["input_scale"]), str(setting["act"]), 40)
        medians = measured[draws].median(1).values  # (4000, 2): medians of five seeds each
        for distance in (0, 1):
            low, high = medians[:, distance].quantile(torch.tensor([0.001, 0.999], dtype=torch.float64)).tolist()
            assert 0.98 * low <= course[distance] <= 1.02 * high  # the course rounds to two digits


def test_the_lab_shows_that_table_for_its_own_rho_at_every_distance() -> None:
    report = run("jacobian", rho=1.5)
    assert numbers(report, "distances") == [1, 5, 10, 20, 30, 50]
    rows = table(report, "medians").rows
    assert [str(row[0]) for row in rows] == [*(str(label) for label, _ in SETTINGS.values()), "ρ^k"]
    for row, name in zip(rows, SETTINGS, strict=False):
        assert list(row[1:]) == numbers(report, f"median_{name}")
    wanted = norms(1.5, 1.0, "tanh", 40)[:5].median(0).values
    assert [numbers(report, "median_input_1")[i] for i in (2, 5)] == pytest.approx(wanted.tolist(), rel=1e-12)
    assert rows[-1][-1] == pytest.approx(6.4e8, rel=0.005)
    small = numbers(report, "median_input_1")[-1]
    assert small < numbers(report, "median_input_05")[-1] < numbers(report, "median_input_0")[-1]
    assert numbers(report, "median_linear")[-1] > 1e7
    assert run("jacobian", rho=0.5).values["rho_power"] == pytest.approx(8.9e-16, rel=0.01)
    assert run("jacobian", rho=0.9).values["rho_power"] == pytest.approx(5.2e-3, rel=0.01)


def test_with_inputs_of_scale_1_a_radius_of_1_5_vanishes_in_every_one_of_200_seeds() -> None:
    at_50 = norms(1.5, 1.0, "tanh", 200)[:, 1]
    assert at_50.max().item() < 0.1  # the course's own 200 draws stay below .02, ours below .05: all far below 1
    assert at_50.median().item() == pytest.approx(1.8e-4, rel=0.5)
    report = run("jacobian", rho=1.5, input_scale=1)
    assert report.values["above_1"] is False
    assert number(report, "norm") == at_50[0].item()


def test_with_inputs_of_scale_0_5_it_vanishes_in_about_three_seeds_of_four() -> None:
    at_50 = norms(1.5, 0.5, "tanh", 200)[:, 1]
    assert 0.15 < (at_50 > 1).double().mean().item() < 0.35
    assert at_50.max().item() > 5


def test_without_inputs_the_spread_over_the_seeds_is_wide() -> None:
    at_50 = norms(1.5, 0.0, "tanh", 40)[:, 1]
    assert at_50.max().item() / at_50.min().item() > 1e4


def test_an_orthogonal_matrix_keeps_the_norm_until_tanh_bends_it() -> None:
    report = run("jacobian", matrix="orthogonal", rho=1, act="linear")
    assert number(report, "norm") == pytest.approx(1.0, abs=1e-10)
    assert report.values["above_1"] is False
    assert math.isnan(number(report, "first_below_1"))
    without_inputs = norms(1.0, 0.0, "tanh", 3, "orthogonal")[:, 1].median().item()
    with_inputs = norms(1.0, 0.5, "tanh", 3, "orthogonal")[:, 1].median().item()
    assert without_inputs == pytest.approx(0.83, abs=0.06)
    assert 2e-6 < with_inputs < 4e-5  # 9.3e-6 for the course's three seeds


def test_a_non_normal_matrix_grows_first_although_its_eigenvalues_are_0_9() -> None:
    report = run("jacobian", matrix="non-normal", act="linear", T=100)
    at = dict(zip(numbers(report, "distances"), numbers(report, "norms"), strict=True))
    assert round(at[1], 2) == 5.16
    assert round(at[50], 2) == 1.43
    assert round(number(report, "norm"), 4) == 0.0148
    assert (round(number(report, "largest_norm"), 2), report.values["largest_norm_at"]) == (19.38, 9)
    assert report.values["first_below_1"] == 55


def test_not_every_non_normal_matrix_grows_first() -> None:
    params = JacobianParams(matrix="non-normal", rho=0.5, offdiag=0.3, act="linear", T=5)
    falling = spectral_norms(build(params, Context()).jacobians()[0])
    assert [round(norm, 3) for norm in falling[:3].tolist()] == [0.672, 0.442, 0.281]
    report = run("jacobian", matrix="non-normal", rho=0.5, offdiag=0.3, act="linear", T=5)
    assert round(number(report, "sigma"), 3) == 0.672
    assert report.values["largest_norm_at"] == 1


def test_a_gaussian_matrix_stretches_more_than_its_radius() -> None:
    sigmas = [number(run("jacobian", rho=1.0, T=5, seed=seed), "sigma") for seed in range(10)]
    assert sum(sigmas) / 10 == pytest.approx(1.8, abs=0.15)


def test_attention_has_no_axis_of_distance() -> None:
    correlations = []
    for seed in range(6):
        report = run("jacobian", compare=True, seed=seed)
        assert 0.005 < number(report, "attention_least") < number(report, "attention_median") < 0.05
        assert number(report, "attention_most") < 0.2
        curve = report.panel("norms")
        assert isinstance(curve, Curves)
        attention = torch.tensor(list(curve.series[3].y.flat()), dtype=torch.float64)
        assert math.isnan(attention[-1].item())
        stacked = torch.stack((attention[:-1], torch.arange(49, dtype=torch.float64)))
        correlations.append(torch.corrcoef(stacked)[0, 1].item())
    assert min(correlations) < 0 < max(correlations)
    assert max(map(abs, correlations)) < 0.5


def test_the_curve_lies_between_nothing_and_its_bound() -> None:
    curve = run("jacobian", T=30).panel("norms")
    assert isinstance(curve, Curves)
    assert list(curve.x.flat()) == list(range(1, 31))
    norm, radius, bound = (list(series.y.flat()) for series in curve.series)
    assert radius == pytest.approx([0.9**k for k in range(1, 31)], rel=1e-12)
    assert all(n <= b * (1 + 1e-9) for n, b in zip(norm, bound, strict=True))


@settings(max_examples=40)
@given(
    matrix=st.sampled_from(["gaussian", "orthogonal", "non-normal"]),
    rho=st.floats(0.3, 2.0),
    hidden=st.integers(2, 24),
    steps=st.integers(5, 100),
    input_scale=st.floats(0, 2),
    act=st.sampled_from(["tanh", "linear"]),
    offdiag=st.floats(0, 10),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_for_every_matrix(
    matrix: str, rho: float, hidden: int, steps: int, input_scale: float, act: str, offdiag: float, seed: int
) -> None:
    report = run(
        "jacobian",
        matrix=matrix,
        rho=rho,
        hidden=hidden,
        T=steps,
        input_scale=input_scale,
        act=act,
        offdiag=offdiag,
        seed=seed,
    )
    assert failed(report) == []


@pytest.mark.parametrize("params", [{"hidden": 64, "T": 100, "compare": True}, {"hidden": 2, "T": 5, "compare": True}])
def test_the_ends_of_the_ranges_hold_every_invariant(params: dict[str, Any]) -> None:
    for rho in (0.3, 2.0):
        assert failed(run("jacobian", rho=rho, input_scale=2, **params)) == []


def test_only_the_small_matrix_has_an_entry_off_the_diagonal_and_a_width_of_its_own() -> None:
    assert [JacobianParams().relevant(field) for field in ("hidden", "offdiag", "rho")] == [True, False, True]
    small = JacobianParams(matrix="non-normal")
    assert [small.relevant(field) for field in ("hidden", "offdiag", "rho")] == [False, True, True]
