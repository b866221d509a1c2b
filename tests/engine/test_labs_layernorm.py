"""The lab `layernorm`: where ε stands, by the numbers of the course; what changes nothing, to the last digits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.labs.layernorm import VARIANTS
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves, Note
from engine.labs import run
from engine.labs.layernorm import NAMES
from tests.engine.reports import failed, number, numbers, table

BY_HAND = [-1.3416, -0.4472, 0.4472, 1.3416]


def curve(name: str, std: float, eps: float) -> float:
    """Return the output std of a variant for a row brought to an input std."""
    report = run("layernorm", eps=eps)
    stds = numbers(report, "input_stds")
    nearest = min(range(len(stds)), key=lambda i: abs(math.log(stds[i] / std)))
    assert stds[nearest] == pytest.approx(std, rel=1e-12)
    return numbers(report, f"curve_{name}")[nearest]


def test_1_2_3_4_becomes_the_row_worked_by_hand() -> None:
    report = run("layernorm")
    assert (report.values["mean"], report.values["variance"]) == (2.5, 1.25)
    assert numbers(report, "output") == pytest.approx(BY_HAND, abs=5e-5)
    assert numbers(report, "output_unbiased") == pytest.approx([-1.1619, -0.3873, 0.3873, 1.1619], abs=5e-5)
    assert number(report, "output_mean") == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("std", "eps", "std_eps", "sqrt_var_eps"), [(1e-3, 1e-6, 0.9990, 0.7071), (1e-5, 1e-6, 0.9091, 0.0100)]
)
def test_rows_of_tiny_variance_keep_or_lose_their_size_by_where_eps_stands(
    std: float, eps: float, std_eps: float, sqrt_var_eps: float
) -> None:
    assert curve("std_eps", std, eps) == pytest.approx(std_eps, abs=5e-5)
    assert curve("sqrt_var_eps", std, eps) == pytest.approx(sqrt_var_eps, abs=5e-5)


def test_pytorchs_eps_shrinks_them_more_than_a_smaller_one() -> None:
    assert curve("sqrt_var_eps", 1e-3, 1e-5) == pytest.approx(0.3015, abs=5e-5)
    assert curve("sqrt_var_eps", 1e-5, 1e-5) == pytest.approx(0.0032, abs=5e-5)


def test_a_thousandfold_row_gives_the_same_output_and_a_tiny_one_shrinks() -> None:
    large, small = run("layernorm", scale=1000), run("layernorm", scale=1e-4)
    assert (large.values["changes"], small.values["changes"]) == (False, True)
    assert number(large, "change") < 1e-5
    assert number(small, "output_std") == pytest.approx(0.035333, abs=5e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_random_row_of_width_512_has_norm_22_627(seed: int) -> None:
    report = run("layernorm", row="random", d=512, eps=1e-8, seed=seed)
    assert number(report, "output_norm") == pytest.approx(22.627, abs=1e-3)
    assert failed(report) == []
    assert len(table(report, "features").rows) == 16


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("x", [(5.0, 5.0, 5.0), (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), (0.0, 0.0)])
def test_a_constant_row_becomes_the_bias(variant: str, x: tuple[float, ...]) -> None:
    report = run("layernorm", x=x, beta=0.5, gamma=2, variant=variant)
    assert numbers(report, "output") == pytest.approx([0.5] * len(x), abs=1e-10)
    assert failed(report) == []
    unchecked = [str(invariant.detail) for invariant in report.invariants[-3:]]
    assert unchecked == ["not checked: the row is constant, up to rounding"] * 3
    assert isinstance(report.panel("curve"), Note)
    assert "curve_std_eps" not in report.values


def test_only_the_root_of_variance_plus_eps_is_compared_with_torch() -> None:
    for variant in VARIANTS:
        report = run("layernorm", variant=variant)
        assert report.invariants[0].holds is (True if variant == VARIANTS[0] else None)
        assert numbers(report, "output") == numbers(report, f"output_{NAMES[variant]}")


def test_gain_and_bias_scale_and_move_the_output() -> None:
    plain, moved = run("layernorm"), run("layernorm", gamma=-2, beta=0.5)
    wanted = [0.5 - 2 * y for y in numbers(plain, "output")]
    assert numbers(moved, "output") == pytest.approx(wanted, abs=1e-14)


def test_the_table_and_the_curve_show_all_variants() -> None:
    report = run("layernorm")
    rows = table(report, "variants").rows
    assert [str(row[0]) for row in rows] == ["√(s² + ε), as in PyTorch", "s + ε", "unbiased s + ε"]
    assert [row[3] for row in rows] == [report.values[f"std_{name}"] for name in NAMES.values()]
    curves = report.panel("curve")
    assert isinstance(curves, Curves)
    assert [list(series.y.flat()) for series in curves.series] == [
        numbers(report, f"curve_{name}") for name in NAMES.values()
    ]


@settings(max_examples=60, deadline=None)
@given(
    x=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=16),
    scale=st.floats(1e-6, 1000),
    shift=st.floats(-100, 100),
    eps=st.floats(1e-8, 1e-2),
    gamma=st.floats(-3, 3),
    beta=st.floats(-3, 3),
)
def test_every_row_holds_the_invariants(
    x: list[float], scale: float, shift: float, eps: float, gamma: float, beta: float
) -> None:
    report = run("layernorm", x=tuple(x), scale=scale, shift=shift, eps=eps, gamma=gamma, beta=beta)
    assert failed(report) == []
    assert all(math.isfinite(y) for y in numbers(report, "output"))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("", "row x needs at least two numbers; it has 0."),
        ("3", "row x needs at least two numbers; it has 1."),
        ("1 2; 3 4", "row x is 2 × 2; at most 1 × 16 is taken."),
        ("a b", "row x takes numbers such as “1 0; 0 1”, not “a b”."),
        ("1 " * 17, "row x is 1 × 17; at most 1 × 16 is taken."),
        ("nan 1", "row x takes numbers such as “1 0; 0 1”, not “nan 1”."),
    ],
)
def test_what_is_no_row_is_refused_in_one_sentence(x: str, message: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("layernorm", x=x)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [("x", message)]


def test_a_random_row_does_not_mind_what_stands_in_x() -> None:
    assert failed(run("layernorm", row="random", d=4, x=())) == []
