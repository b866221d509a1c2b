"""The lab `gru-conventions`: z is a name, the place of the reset gate is another function, and cells cost 1 : 3 : 4."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.contract.parameters import InvalidParameters
from engine.labs import run
from engine.labs.gru_conventions import count
from engine.layers.gru import keep, replace, reset_after, reset_before
from tests.engine.reports import failed, heatmap, number, numbers, table


def scalar(value: float) -> Tensor:
    return torch.tensor([value], dtype=torch.float64)


def test_the_scalar_case_gives_another_candidate_in_each_place() -> None:
    arguments = scalar(0.5), scalar(0.8), scalar(0.9)[None], scalar(0.3)
    paper, torchs = reset_before(*arguments), reset_after(*arguments)
    assert paper.item() == pytest.approx(0.66, abs=1e-15)
    assert torchs.item() == pytest.approx(0.51, abs=1e-15)
    assert (round(paper.tanh().item(), 4), round(torchs.tanh().item(), 4)) == (0.5784, 0.4699)


def test_the_meaning_of_z_by_hand() -> None:
    arguments = scalar(0.25), scalar(0.8), scalar(-0.4)
    assert replace(*arguments).item() == pytest.approx(0.5, abs=1e-15)
    assert keep(*arguments).item() == pytest.approx(-0.1, abs=1e-15)


def test_after_aligning_z_the_place_of_the_reset_gate_still_makes_a_difference_in_every_seed() -> None:
    reports = [run("gru-conventions", seed=seed) for seed in range(50)]
    differences = [number(report, "reset_difference") for report in reports]
    assert all(report.values["variants_differ"] is True for report in reports)
    assert min(differences) > 0.02
    assert max(differences) < 0.35
    assert median(differences) == pytest.approx(0.11, abs=0.03)


def test_an_open_reset_gate_makes_both_places_equal() -> None:
    report = run("gru-conventions", r_bias=60)
    assert number(report, "reset_difference") < 1e-15
    assert report.values["variants_differ"] is False
    assert numbers(report, "r") == [1.0] * 4


def test_the_meaning_of_z_exchanges_the_shares_of_the_same_candidate() -> None:
    kept, replaced = run("gru-conventions"), run("gru-conventions", z_meaning="replace")
    for name in ("r", "z", "n", "before"):
        assert numbers(kept, name) == numbers(replaced, name)
    for z, n, old, one, other in zip(
        *(numbers(kept, name) for name in ("z", "n", "before", "h")), numbers(replaced, "h"), strict=True
    ):
        assert one == pytest.approx((1 - z) * n + z * old, abs=1e-15)
        assert other == pytest.approx((1 - z) * old + z * n, abs=1e-15)
    difference = max(abs(a - b) for a, b in zip(numbers(kept, "h"), numbers(replaced, "h"), strict=True))
    assert number(kept, "z_difference") == difference > 0.05


def test_the_map_compares_all_four_conventions() -> None:
    report = run("gru-conventions")
    panel = heatmap(report, "differences")
    assert panel.row_labels == panel.column_labels == ("paper K", "paper R", "torch K", "torch R")
    matrix = panel.values.rows()
    assert [matrix[i][i] for i in range(4)] == [0.0] * 4
    assert matrix[0][2] == matrix[2][0] == number(report, "reset_difference")
    assert matrix[2][3] == number(report, "z_difference")


def test_the_counts_are_those_of_the_course() -> None:
    report = run("gru-conventions")
    rows = [row[1:] for row in table(report, "counts").rows]
    assert rows == [(6272, 6208, 1), (18816, 18624, 3), (25088, 24832, 4)]
    assert [report.values[f"{cell}_count"] for cell in ("rnn", "gru", "lstm")] == [6272, 18816, 25088]
    assert report.values["lstm_count_one_bias"] == 24832


@given(inputs=st.integers(1, 128), hidden=st.integers(1, 64))
@settings(max_examples=20)
def test_the_counts_are_torchs(inputs: int, hidden: int) -> None:
    for name, kind in (("rnn", nn.RNN), ("gru", nn.GRU), ("lstm", nn.LSTM)):
        assert count(name, inputs, hidden) == sum(p.numel() for p in kind(inputs, hidden, device="meta").parameters())


@settings(max_examples=40)
@given(
    variant=st.sampled_from(["paper", "torch"]),
    z_meaning=st.sampled_from(["keep", "replace"]),
    r_bias=st.floats(-5, 60),
    hidden=st.integers(1, 8),
    counted=st.tuples(st.integers(1, 128), st.integers(1, 256)),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_in_every_convention(
    variant: str, z_meaning: str, r_bias: float, hidden: int, counted: tuple[int, int], seed: int
) -> None:
    report = run(
        "gru-conventions",
        variant=variant,
        z_meaning=z_meaning,
        r_bias=r_bias,
        hidden=hidden,
        input=counted[0],
        H=counted[1],
        seed=seed,
    )
    assert [invariant.holds for invariant in report.invariants] == [True] * 5
    assert failed(report) == []


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"r_bias": 61}, "r_bias", "bias of the reset gate is 61, but it must lie between -5.0 and 60.0."),
        ({"H": 257}, "H", "hidden width to count for is 257, but it must lie between 1 and 256."),
        ({"variant": "cudnn"}, "variant", "place of the reset gate cannot be “cudnn”; choose one of: paper, torch."),
    ],
)
def test_what_is_out_of_range_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("gru-conventions", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
