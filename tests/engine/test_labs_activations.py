"""The lab `activations`: values, slopes, saturation, and where the two GELUs part."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.contract.labs.activations import ActivationsParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves
from engine.labs import run
from engine.labs.activations import gelu_exact, gelu_tanh, slope
from tests.engine.reports import failed, number, numbers, table


def fine(low: float, high: float) -> torch.Tensor:
    return torch.linspace(low, high, 200_001, dtype=torch.float64)


def test_gelu_has_the_values_of_the_course_in_both_forms() -> None:
    report = run("activations")
    exact, tanh_form = numbers(report, "exact"), numbers(report, "tanh_form")
    assert [round(y, 6) for y in exact] == [-0.045500, -0.158655, 0, 0.841345, 1.954500]
    assert [round(y, 6) for y in tanh_form] == [-0.045402, -0.158808, 0, 0.841192, 1.954598]
    assert exact == pytest.approx([x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in (-2, -1, 0, 1, 2)], abs=1e-15)
    assert [row[3:5] for row in table(report, "places").rows] == list(zip(exact, tanh_form, strict=True))


def test_the_two_gelus_differ_most_near_2_70() -> None:
    report = run("activations", show="gelu-error")
    assert number(report, "largest_error") == pytest.approx(4.73e-4, abs=5e-7)
    assert number(report, "largest_error_at") == pytest.approx(2.70, abs=0.026)  # the grid has steps of 0.05
    x = fine(2.0, 3.5)
    error = (gelu_exact(x) - gelu_tanh(x)).abs()
    assert error.max().item() == pytest.approx(4.732e-4, abs=5e-8)
    assert x[error.argmax()].item() == pytest.approx(2.699, abs=5e-4)
    everywhere = fine(-20, 20)
    assert (gelu_exact(everywhere) - gelu_tanh(everywhere)).abs().max().item() < 4.74e-4


def test_gelu_has_a_minimum_and_is_not_monotone() -> None:
    x = fine(-1.5, 0)
    assert gelu_exact(x).min().item() == pytest.approx(-0.16997, abs=5e-6)
    assert x[gelu_exact(x).argmin()].item() == pytest.approx(-0.7518, abs=5e-5)
    assert run("activations").values["monotone"] is False
    assert run("activations", fn="tanh").values["monotone"] is True


def test_far_out_tanh_is_flat_and_relu_passes_nothing_on_the_left() -> None:
    x = fine(5, 20)
    assert slope(torch.tanh, x).max().item() < 2e-4
    curve = run("activations", fn="relu", show="derivative").panel("curve")
    assert isinstance(curve, Curves)
    for at, gradient in zip(curve.x.flat(), curve.series[0].y.flat(), strict=True):
        assert gradient == (1.0 if at > 0 else 0.0)


@pytest.mark.parametrize(("fn", "largest"), [("sigmoid", 0.25), ("tanh", 1.0), ("relu", 1.0), ("gelu-exact", 1.129)])
def test_the_largest_derivative_is_known(fn: str, largest: float) -> None:
    assert number(run("activations", fn=fn), "largest_derivative") == pytest.approx(largest, abs=5e-4)


@pytest.mark.parametrize("show", ["value", "derivative", "gelu-error"])
def test_what_is_drawn_is_what_was_chosen(show: str) -> None:
    report = run("activations", show=show, xmin=-2, xmax=2)
    curve = report.panel("curve")
    assert isinstance(curve, Curves)
    y = list(curve.series[0].y.flat())
    assert len(y) == 241
    wanted = {"value": "value", "derivative": "derivative"}
    if show in wanted:
        assert [y[0], y[60], y[120], y[180], y[240]] == pytest.approx(numbers(report, wanted[show]), abs=1e-12)
    else:
        assert max(y) == number(report, "largest_error") < 4.8e-4


@given(
    fn=st.sampled_from(["sigmoid", "tanh", "relu", "gelu-exact", "gelu-tanh"]),
    ends=st.lists(st.floats(-20, 20), min_size=2, max_size=2, unique=True).map(sorted),
)
def test_every_invariant_holds_between_any_ends(fn: str, ends: list[float]) -> None:
    assert failed(run("activations", fn=fn, xmin=ends[0], xmax=ends[1])) == []


def test_only_a_gelu_offers_the_difference_of_the_gelus() -> None:
    assert ActivationsParams(fn="relu").options("show") == ("value", "derivative")
    assert ActivationsParams(fn="gelu-tanh").options("show") is None
    assert "largest_error" not in run("activations", fn="relu").values


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"xmin": 3, "xmax": -1}, "xmax", "The left end 3 must lie below the right end -1."),
        ({"xmin": 1, "xmax": 1}, "xmax", "The left end 1 must lie below the right end 1."),
        ({"xmax": 21}, "xmax", "right end is 21, but it must lie between -20.0 and 20.0."),
        (
            {"fn": "tanh", "show": "gelu-error"},
            "show",
            "Only a GELU has two forms to compare; choose one of gelu-exact, gelu-tanh, or show the value or the "
            "derivative.",
        ),
    ],
)
def test_impossible_wishes_get_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("activations", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
