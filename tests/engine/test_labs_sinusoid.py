"""The lab `sinusoid`: the numbers of the course, the shift, and odd widths that have no partner for their last sine."""

from __future__ import annotations

import math

import pytest
import torch

from engine.contract.report import Curves, Note
from engine.labs import run
from engine.labs.sinusoid import RATIO_WIDTHS, expected_ratio, shift_matrix
from engine.layers.positional import sinusoidal
from tests.engine.reports import failed, heatmap, number, numbers, table

ROWS_OF_WIDTH_4 = (
    (0.0, 1.0, 0.0, 1.0),
    (0.8415, 0.5403, 0.0100, 1.0000),
    (0.9093, -0.4161, 0.0200, 0.9998),
    (0.1411, -0.9900, 0.0300, 0.9996),
)
DOT_PRODUCTS = {0: 64, 1: 62.1, 2: 57.4, 4: 48.6, 8: 45.7, 16: 39.7, 32: 35.7, 49: 33.7, 64: 30.5, 127: 23.2}


def test_the_first_rows_of_width_4_are_those_of_the_course() -> None:
    report = run("sinusoid", d=4, n=4)
    for p, row in enumerate(ROWS_OF_WIDTH_4):
        assert numbers(report, f"row_{p}") == pytest.approx(row, abs=5e-5)
        assert heatmap(report, "encoding").values.rows()[p] == numbers(report, f"row_{p}")
    assert sum(a * b for a, b in zip(*(numbers(report, f"row_{p}") for p in (0, 1)), strict=True)) == pytest.approx(
        1.5403, abs=5e-5
    )
    assert number(report, "squared_norm") == pytest.approx(2.0, rel=1e-12)


def test_the_longest_wavelength_of_width_128_is_54410_and_not_2_pi_times_the_base() -> None:
    report = run("sinusoid")
    assert number(report, "shortest_wavelength") == pytest.approx(2 * math.pi, rel=1e-12)
    assert number(report, "longest_wavelength") == pytest.approx(54_410, abs=1)
    assert number(report, "base_wavelength") == pytest.approx(62_832, abs=1)
    rows = table(report, "wavelengths").rows
    assert len(rows) == 64
    assert (rows[0][0], rows[-1][0]) == ("0, 1", "126, 127")
    assert [rows[0][2], rows[-1][2]] == [
        pytest.approx(report.values["shortest_wavelength"]),
        pytest.approx(report.values["longest_wavelength"]),
    ]


@pytest.mark.parametrize("n", [2, 50, 128])
def test_dot_products_do_not_fall_steadily_and_do_not_depend_on_n(n: int) -> None:
    report = run("sinusoid", n=n)
    products = numbers(report, "products")
    assert {k: round(products[k], 1) for k in DOT_PRODUCTS} == DOT_PRODUCTS
    assert report.values["products_fall_steadily"] is False
    curves = report.panel("products")
    assert isinstance(curves, Curves)
    assert list(curves.series[0].y.flat()) == products


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6, 7, 127, 128])
@pytest.mark.parametrize("shift", [-20, 0, 7, 50])
def test_every_width_and_shift_holds_its_invariants(d: int, shift: int) -> None:
    report = run("sinusoid", d=d, shift=shift, n=128, base=100_000.0)
    assert failed(report) == []
    checked = [invariant for invariant in report.invariants if invariant.holds is True]
    assert len(checked) == (2 if d % 2 else len(report.invariants))
    assert report.values["needs_even_d"] is (d % 2 == 1)


def test_an_odd_width_says_that_the_shift_needs_pairs() -> None:
    report = run("sinusoid", d=7)
    shift = report.panel("shift")
    assert isinstance(shift, Note)
    assert str(shift.text) == "R_k needs even d: the last sine has no cosine."
    assert "shift_error" not in report.values
    assert table(report, "wavelengths").rows[-1][0] == "6"
    slow = heatmap(run("sinusoid", d=3, base=100), "encoding")
    norms = [sum(x * x for x in row) for row in slow.values.rows()]
    assert max(norms) - min(norms) > 0.5  # why nothing is claimed about them


def test_errors_of_shift_and_gram_are_rounding_and_no_more() -> None:
    report = run("sinusoid")
    assert 0 < number(report, "shift_error") < 1e-12
    assert 0 < number(report, "toeplitz_error") < 1e-12


def test_a_shift_before_the_first_position_is_computed_and_does_not_wrap() -> None:
    report = run("sinusoid", d=4, n=3, shift=-2)
    assert number(report, "shift_error") < 1e-14
    before = shift_matrix(-2, 4, 10_000.0) @ sinusoidal(1, 4)[0]
    assert before.tolist() == pytest.approx([math.sin(-2), math.cos(-2), math.sin(-0.02), math.cos(-0.02)], abs=1e-15)


def test_the_shift_table_shows_blocks_that_turn_backwards() -> None:
    first, *_ = table(run("sinusoid", d=4, shift=1), "shift").rows
    cosine, sine = f"{math.cos(1):.4f}", f"{math.sin(1):.4f}"
    assert first[:4] == ("0, 1", f"{cosine} {sine}", f"-{sine} {cosine}", f"{cosine} {sine}")


def test_shift_matrices_multiply_as_their_shifts_add() -> None:
    two, five, seven = (shift_matrix(k, 6, 10_000.0) for k in (2, 5, 7))
    assert torch.allclose(two @ five, seven, atol=1e-14)
    assert not torch.allclose(two @ five, shift_matrix(-7, 6, 10_000.0), atol=0.1)


def test_embeddings_of_variance_1_drown_the_positions() -> None:
    assert expected_ratio(512, "1") == pytest.approx(0.031, abs=5e-4)
    assert expected_ratio(512, "d^-1/2") == pytest.approx(0.707, abs=5e-4)
    for start, ratio in (("1", 1 / 16), ("d^-1/2", 0.5**0.5)):
        for seed in range(5):
            report = run("sinusoid", emb_std=start, seed=seed)
            assert number(report, "ratio") == pytest.approx(ratio, rel=1e-12)
            assert number(report, "ratio_measured") == pytest.approx(ratio, rel=0.05)
            assert number(report, "ratio_512") == expected_ratio(512, start)
    rows = table(run("sinusoid"), "ratios").rows
    assert [row[0] for row in rows] == list(RATIO_WIDTHS)
