"""The lab `heads`: parameter counts exactly, entropies within the bounds of many seeds, ranks, scope, twin weights."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.contract.parameters import InvalidParameters
from engine.contract.report import Heatmap
from engine.labs import run
from tests.engine.reports import failed, heatmap, number, table


@pytest.mark.parametrize("sentence", ["The cat sat on the mat", "我 喜欢 在 咖啡馆 里 看 书", "他他👍🏽a ❤️ ok ok"])
def test_every_head_has_a_labelled_map_whose_rows_sum_to_one(sentence: str) -> None:
    report = run("heads", sentence=sentence)
    maps = [panel for panel in report.panels if isinstance(panel, Heatmap)]
    assert [(panel.id, str(panel.title), panel.group) for panel in maps] == [
        (f"head-{i}", f"Head {i}", "heads") for i in (1, 2, 3, 4)
    ]
    for panel in maps:
        n = len(panel.row_labels)
        assert panel.row_labels == panel.column_labels
        assert len(set(panel.row_labels)) == n == report.values["n_tokens"]
        assert [sum(row) for row in panel.values.rows()] == pytest.approx([1.0] * n, abs=1e-12)
    assert all(invariant.holds is True for invariant in report.invariants)


@pytest.mark.parametrize(("heads", "sliced"), [(1, 262_400), (2, 114_944), (4, 78_080), (8, 68_864)])
def test_parameters_are_those_of_the_course(heads: int, sliced: int) -> None:
    full = run("heads", heads=heads)
    assert full.values["parameters"] == 262_400
    assert full.values["parameters_slice"] == sliced
    assert full.values["parameters_torch"] == 263_168
    assert full.values["d_k"] == 256 // heads
    assert run("heads", heads=heads, projection="shared-slice").values["parameters"] == sliced


def test_untrained_maps_are_near_uniform_at_torchs_start_in_every_seed() -> None:
    for seed in range(10):
        report = run("heads", seed=seed)
        assert number(report, "uniform_entropy") == pytest.approx(math.log(6), rel=1e-12)
        assert 1.62 < number(report, "entropy_mean") < 1.76
        assert number(report, "entropy_min") <= number(report, "entropy_mean") <= number(report, "entropy_max")


def test_the_words_matter_and_a_repeated_word_gets_the_same_row() -> None:
    one = heatmap(run("heads", sentence="the cat the dog"), "head-1")
    other = heatmap(run("heads", sentence="the cat the mat"), "head-1")
    rows = one.values.rows()
    assert rows[0] == pytest.approx(rows[2], abs=1e-14)
    assert rows != other.values.rows()
    placed = heatmap(run("heads", sentence="the cat the dog", position=True), "head-1")
    assert max(abs(a - b) for a, b in zip(*placed.values.rows()[::2], strict=True)) > 1e-3


def test_a_repeated_word_lowers_the_rank_of_the_scores() -> None:
    rows = table(run("heads", sentence="a b a b a"), "heads").rows
    assert {row[4] for row in rows} == {2}


@pytest.mark.parametrize("heads", [2, 4, 8])
def test_a_full_head_reads_every_slice_and_a_shared_slice_head_only_its_own(heads: int) -> None:
    full = run("heads", panel="scope", heads=heads)
    assert full.values["head_1_sees_rest"] is True
    scope = heatmap(full, "scope")
    assert min(scope.values.flat()) > 0
    sliced = run("heads", panel="scope", heads=heads, projection="shared-slice")
    assert sliced.values["head_1_sees_rest"] is False
    assert sliced.values["scope_off_diagonal_max"] == 0.0
    own = heatmap(sliced, "scope")
    assert min(own.values.at(i, i) for i in range(heads)) > 0.05
    assert failed(full) == failed(sliced) == []


def test_one_head_has_no_other_slice_to_read() -> None:
    report = run("heads", panel="scope", heads=1, projection="shared-slice")
    assert math.isnan(number(report, "scope_off_diagonal_max"))
    assert str(report.invariants[-1].detail) == "not checked: there is only one head"


def test_more_heads_are_thinner_heads_with_as_many_parameters() -> None:
    for seed in range(5):
        values = run("heads", panel="rank", seed=seed).values
        assert [values[f"rank_{a}"] for a in (1, 2, 4, 8, 16)] == [32, 32, 16, 8, 4]
        assert {values[f"parameters_{a}"] for a in (1, 2, 4, 8, 16)} == {4 * 64 * 64 + 64}


def test_different_weights_give_the_same_output_in_every_seed() -> None:
    for seed in range(50):
        report = run("heads", panel="twin", seed=seed)
        assert failed(report) == []
        assert number(report, "total_variation") > 0.05
        assert number(report, "output_difference") < 1e-14
        twins = heatmap(report, "twins")
        first, second = twins.values.rows()
        assert sum(abs(weight) < 1e-12 for weight in second) == 2  # the corner of the polygon of twins
        assert min(first) > 0
    assert number(run("heads", panel="twin"), "total_variation") > 0.4


@pytest.mark.parametrize("width", range(64, 513, 64))
def test_heads_that_do_not_divide_the_width_are_refused_with_those_that_do(width: int) -> None:
    for heads in range(1, 9):
        if width % heads == 0:
            assert failed(run("heads", embed_size=width, heads=heads, sentence="a b")) == []
            continue
        valid = ", ".join(str(n) for n in range(1, 9) if width % n == 0)
        with pytest.raises(InvalidParameters) as caught:
            run("heads", embed_size=width, heads=heads)
        assert [(p.field, str(p.message)) for p in caught.value.problems] == [
            (
                "heads",
                f"{heads} heads cannot share an embedding of width {width} equally; choose one of: {valid}.",
            )
        ]


@pytest.mark.parametrize("params", [{"panel": "rank"}, {"panel": "twin"}])
def test_panels_with_their_own_numbers_do_not_mind_the_sentence(params: dict[str, Any]) -> None:
    report = run("heads", sentence="", heads=3, **params)
    assert failed(report) == []
