"""The lab `masks`: rows under every mask, what becomes of blocked ones, what leaks, and torch's two conventions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from engine.contract.parameters import InvalidParameters
from engine.contract.report import Bars, Note
from engine.labs import run
from tests.engine.reports import failed, heatmap, number, numbers, table

KINDS = ("none", "causal", "padding", "both", "blocked-row")


def test_equal_scores_under_the_causal_mask_are_shared_equally() -> None:
    report = run("masks")
    assert heatmap(report, "mask").values.rows() == [
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 0.0],
        [1.0, 1.0, 1.0, 1.0],
    ]
    for i in range(1, 5):
        assert numbers(report, f"row_{i}") == pytest.approx([1 / i] * i + [0.0] * (4 - i), abs=1e-7)
        assert numbers(report, f"engine_row_{i}") == numbers(report, f"row_{i}")
        assert heatmap(report, "weights").values.rows()[i - 1] == numbers(report, f"row_{i}")
    assert report.values["blocked_rows"] == 0


def test_offset_0_blocks_the_whole_first_row_which_becomes_uniform_nan_or_zeros() -> None:
    uniform = run("masks", k=0, fill="-1e9")
    assert numbers(uniform, "row_1") == [0.25] * 4
    assert all(math.isnan(weight) for weight in numbers(run("masks", k=0, fill="-inf"), "row_1"))
    assert numbers(run("masks", k=0, fill="finfo.min"), "row_1") == [0.25] * 4
    assert numbers(uniform, "engine_row_1") == [0.0] * 4
    assert numbers(uniform, "row_2") == [1.0, 0.0, 0.0, 0.0]
    fates = {name: uniform.values[f"blocked_{name}"] for name in ("1e9", "inf", "min", "engine")}
    assert fates == {"1e9": "uniform", "inf": "nan", "min": "uniform", "engine": "zeros"}
    assert uniform.values["blocked_rows"] == 1


def test_float16_has_no_room_for_minus_a_billion() -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("masks", dtype="float16", fill="-1e9")
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [
        ("fill", "−1e9 does not fit float16, whose lowest number is −65504; choose −∞ or the lowest number.")
    ]
    assert run("masks", dtype="float16").values["blocked_1e9"] == "no fit"
    rows = table(run("masks", dtype="float16"), "blocked").rows
    assert [(str(row[0]), str(row[1])) for row in rows] == [
        ("−1e9", "does not fit"),
        ("−∞", "NaN"),
        ("the lowest number", "uniform"),
        ("zeros afterwards, as in the engine", "zeros"),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_without_a_mask_every_earlier_output_moves_and_with_the_causal_one_none(seed: int) -> None:
    free = run("masks", kind="none", seed=seed)
    leak = numbers(free, "leak")
    assert min(leak) > 0.01
    assert free.values["leaks"] is True
    assert number(free, "leak_earlier") == max(leak[:-1])
    bars = free.panel("leak")
    assert isinstance(bars, Bars)
    assert list(bars.values.flat()) == leak
    causal = run("masks", seed=seed)
    assert numbers(causal, "leak")[:-1] == [0.0, 0.0, 0.0]
    assert numbers(causal, "leak")[-1] > 0.1
    assert causal.values["leaks"] is False


def test_padding_hides_the_last_token_and_the_naive_shape_does_not() -> None:
    right = run("masks", kind="padding")
    assert {tuple(row) for row in heatmap(right, "mask").values.rows()} == {(1.0, 1.0, 1.0, 0.0)}
    assert right.values["leaks"] is False
    naive = run("masks", kind="padding", shape="naive")
    assert heatmap(naive, "mask").values.rows() == [[1.0] * (4 - i) + [0.0] * i for i in range(4)]
    assert naive.values["leaks"] is True
    for report in (right, naive):
        assert isinstance(report.panel("shown"), Note)
        assert all(row[0] == 1.0 for row in heatmap(report, "mask").values.rows())  # the first key is always open


def test_in_a_batch_of_three_the_naive_shape_lets_queries_see_padding_without_an_error() -> None:
    report = run("masks")
    assert number(report, "right_on_padding") == 0.0
    assert number(report, "naive_on_padding") == pytest.approx(0.5)
    rows = table(report, "batch").rows
    assert [row[:3] for row in rows] == [(1, 3, 0.0), (2, 2, 0.0), (3, 1, 0.0)]
    # Query i of every sentence sees as many tokens as sentence i has: 3, 2, 1.
    assert [row[3] for row in rows] == pytest.approx([0.0, 1 / 3, 1 / 2])


def test_torch_agrees_when_asked_in_its_own_convention_and_fails_in_the_opposite_one() -> None:
    report = run("masks")
    rows = table(report, "conventions").rows
    assert [str(row[0]) for row in rows] == [
        "this course",
        "scaled_dot_product_attention",
        "nn.MultiheadAttention",
        "nn.TransformerEncoder",
        "float mask",
    ]
    assert [str(row[1]) for row in rows] == ["True = may attend"] * 2 + ["True = blocked"] * 2 + ["0 or −∞, added"]
    assert all(0 <= float(str(row[2])) < 1e-12 for row in rows)
    for id in ("ours", "sdpa"):
        assert report.values[f"opposite_{id}"] == "leaks"
    for id in ("module", "encoder"):
        assert report.values[f"opposite_{id}"] in ("nan", "leaks")


def test_a_blocked_row_is_finite_here_and_in_sdpa_and_may_be_nan_elsewhere() -> None:
    report = run("masks", kind="blocked-row")
    blocked = [str(row[4]) for row in table(report, "conventions").rows]
    assert blocked[0] == "finite"
    assert set(blocked) <= {"finite", "NaN"}
    encoder = next(i for i in report.invariants if "TransformerEncoder" in str(i.name))
    assert (encoder.holds, str(encoder.detail)) == (
        None,
        "not checked: a row without any open key makes all of it NaN",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 8])
def test_every_combination_holds_its_invariants(n: int, kind: str) -> None:
    fills = [("float32", "-1e9"), ("float64", "-inf"), ("float16", "finfo.min")]
    for k, shape, (dtype, fill) in product((0, 1), ("right", "naive"), fills):
        params: dict[str, Any] = {"n": n, "kind": kind, "k": k, "shape": shape, "dtype": dtype, "fill": fill}
        assert failed(run("masks", **params)) == []
