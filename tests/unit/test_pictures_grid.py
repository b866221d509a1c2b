"""From numbers to levels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.pictures_samples import attention, heatmap
from tutor.pictures.grid import levels, outside, scale_ends, shown_values
from tutor.pictures.palette import INFINITE, NAN

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def test_levels_cut_the_scale_into_equal_steps() -> None:
    row = [0.0, 0.249, 0.25, 0.5, 0.749, 0.75, 1.0]
    assert levels(heatmap([row]), 4) == [[0, 0, 1, 2, 2, 3, 3]]


def test_a_tenth_is_not_lost_to_rounding() -> None:
    assert levels(heatmap([[n / 10 for n in range(10)]]), 10) == [list(range(10))]


def test_a_diverging_scale_is_symmetric_about_zero() -> None:
    panel = heatmap([[-3.0, -1.0, 0.0, 1.0, 3.0]], scale="diverging", ends=(-1.0, 3.0))
    assert scale_ends(panel) == (-3.0, 3.0)
    first, second, middle, fourth, fifth = levels(panel, 7)[0]
    assert (first, middle, fifth) == (0, 3, 6)
    assert second + fourth == 6


def test_what_is_not_finite_keeps_its_own_level_and_spoils_no_other() -> None:
    panel = heatmap([[0.0, math.nan, 1.0], [math.inf, 0.5, -math.inf]])
    assert levels(panel, 4) == [[0, NAN, 3], [INFINITE, 2, INFINITE]]


def test_constant_data_do_not_divide_by_zero() -> None:
    assert levels(heatmap([[2.0, 2.0]], ends=(2.0, 2.0)), 4) == [[0, 0]]
    assert levels(heatmap([[0.0, math.nan]], scale="diverging", ends=(0.0, 0.0)), 7) == [[3, NAN]]


def test_ends_that_are_not_finite_are_taken_from_the_data() -> None:
    assert scale_ends(heatmap([[1.0, 4.0, math.inf]], ends=(0.0, math.inf))) == (1.0, 4.0)
    assert scale_ends(heatmap([[math.nan]], ends=(math.nan, math.nan))) == (0.0, 1.0)


def test_values_outside_the_scale_take_its_ends_and_are_reported() -> None:
    panel = heatmap([[-0.5, 0.5, 1.5]])
    assert levels(panel, 4) == [[0, 2, 3]]
    assert outside(panel) == (True, True)
    assert outside(heatmap(attention(4))) == (False, False)


@given(st.lists(NUMBERS, min_size=1, max_size=9), NUMBERS, NUMBERS, st.sampled_from(["sequential", "diverging"]))
def test_levels_never_leave_their_range(row: list[float], low: float, high: float, scale: str) -> None:
    panel = heatmap([row], scale=scale, ends=(low, high))  # type: ignore[arg-type]
    for value, level in zip(row, levels(panel, 5)[0], strict=True):
        expected = range(5) if math.isfinite(value) else (NAN if math.isnan(value) else INFINITE,)
        assert level in expected


def test_pooling_by_the_mean_averages_and_by_the_peak_keeps_it() -> None:
    panel = heatmap([[1.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.2, 0.4, 0.9]])
    assert shown_values(panel, 2, 2, "mean").numbers == [[0.25, 0.5], [pytest.approx(0.3), 0.9]]
    assert shown_values(panel, 2, 2, "max").numbers == [[1.0, 0.5], [0.4, 0.9]]


def test_the_peak_of_a_diverging_block_is_what_is_farthest_from_zero() -> None:
    panel = heatmap([[-3.0, 2.0], [1.0, 0.0]], scale="diverging", ends=(-3.0, 3.0))
    assert shown_values(panel, 2, 2, "max").numbers == [[-3.0]]


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_an_explosion_does_not_disappear_in_a_pool(pool: str) -> None:
    panel = heatmap([[0.1, math.inf, 0.2, 0.3], [0.4, 0.5, math.nan, 0.6]])
    first, second = shown_values(panel, 2, 2, pool).numbers[0]  # type: ignore[arg-type]
    assert first == math.inf
    assert math.isnan(second)


@given(st.integers(1, 13), st.integers(1, 13), st.integers(1, 5), st.integers(1, 5))
def test_pooling_covers_every_value_once(rows: int, columns: int, high: int, wide: int) -> None:
    panel = heatmap([[1.0] * columns for _ in range(rows)])
    shown = shown_values(panel, high, wide, "mean").numbers
    assert len(shown) == math.ceil(rows / high)
    assert {len(row) for row in shown} == {math.ceil(columns / wide)}
    assert {value for row in shown for value in row} == {1.0}
