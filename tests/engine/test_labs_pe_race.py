"""The lab `pe-race`: rotary positions carry over to longer texts, learned tables do not, and none know nothing."""

from __future__ import annotations

import math

import pytest
import torch

from engine.contract.labs.pe_race import SCHEMES
from engine.contract.report import Curves, Heatmap, Report
from engine.labs import run
from engine.labs.base import Context
from engine.labs.pe_race import LONGEST, Namer
from tests.engine.reports import failed, heatmap, numbers, table


@pytest.fixture(scope="module")
def report() -> Report:
    return run("pe-race", schemes="learned,rotary", train_len=12, steps=150)


def test_rotary_positions_work_at_half_as_long_again_and_a_table_does_not(report: Report) -> None:
    learned, rotary = numbers(report, "learned"), numbers(report, "rotary")
    assert rotary[0] >= 0.95
    assert rotary[1] >= 0.95
    assert learned[0] >= 0.9
    assert learned[2] <= 0.3
    assert report.values["perfect_at_1_5"] == "rotary"
    assert [invariant.holds for invariant in report.invariants] == [True] * 3


def test_the_table_and_the_curves_say_the_same(report: Report) -> None:
    race = table(report, "race")
    assert [str(column.title) for column in race.columns[1:]] == ["n = 12", "n = 18", "n = 24", "n = 36"]
    lengths = report.panel("lengths")
    assert isinstance(lengths, Curves)
    assert list(lengths.x.flat()) == [12.0, 18.0, 24.0, 36.0]
    for row, series in zip(race.rows, lengths.series, strict=False):
        assert list(row[1:]) == list(series.y.flat())
    assert list(lengths.series[-1].y.flat()) == pytest.approx([0.1] * 4)


def test_a_head_looks_at_the_symbol_before(report: Report) -> None:
    rows = heatmap(report, "map-rotary").values.rows()
    assert sum(rows[i][i - 1] for i in range(1, 12)) / 11 > 0.5
    assert [sum(row) for row in rows] == pytest.approx([1.0] * 12, abs=1e-5)
    maps = [panel.id for panel in report.panels if isinstance(panel, Heatmap)]
    assert maps == ["map-learned", "map-rotary"]


def test_the_losses_start_at_guessing(report: Report) -> None:
    losses = report.panel("loss")
    assert isinstance(losses, Curves)
    for series in losses.series[:2]:
        assert series.y.at(0) == pytest.approx(math.log(10), abs=0.5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_differ_only_in_what_they_know_of_places(scheme: str) -> None:
    context = Context(seed=3)
    model, bare = Namer(scheme, False, context), Namer("none", False, context)
    names = set(dict(model.named_parameters())) - set(dict(bare.named_parameters()))
    assert names == ({"positions.table.weight"} if scheme == "learned" else set())
    symbols = torch.randint(0, 10, (2, 6), generator=torch.Generator().manual_seed(0))
    order = torch.tensor([5, 3, 1, 0, 2, 4])
    with torch.no_grad():
        logits, _ = model(symbols)
        shuffled, _ = model(symbols[:, order])
    follows = torch.allclose(shuffled, logits[:, order], atol=1e-5)
    assert follows is (scheme == "none")


def test_a_causal_network_does_not_see_what_comes() -> None:
    model = Namer("rotary", True, Context())
    symbols = torch.randint(0, 10, (1, 8), generator=torch.Generator().manual_seed(0))
    changed = symbols.clone()
    changed[0, 5:] = (changed[0, 5:] + 1) % 10
    with torch.no_grad():
        assert torch.equal(model(symbols)[0][:, :5], model(changed)[0][:, :5])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_reads_three_times_the_longest_text(scheme: str) -> None:
    symbols = torch.zeros(1, LONGEST, dtype=torch.long)
    with torch.no_grad():
        logits, trace = Namer(scheme, True, Context())(symbols)
    assert logits.shape == (1, LONGEST, 10)
    assert torch.isfinite(logits).all()
    assert trace.attention.weights.shape == (1, 4, LONGEST, LONGEST)


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(5))
def test_trained_on_16_only_rotary_stays_perfect_in_every_seed(seed: int) -> None:
    report = run("pe-race", schemes="none,learned,rotary", seed=seed)
    assert max(numbers(report, "none")) < 0.4
    assert numbers(report, "learned")[1] < 0.3
    assert min(numbers(report, "rotary")) >= 0.95
    assert failed(report) == []


@pytest.mark.extreme
@pytest.mark.parametrize(("train_len", "causal"), [(8, False), (24, False), (16, True)])
def test_other_settings_keep_rotary_at_half_as_long_again_and_learned_nowhere(train_len: int, causal: bool) -> None:
    report = run("pe-race", train_len=train_len, causal=causal)
    assert numbers(report, "rotary")[1] >= 0.95
    assert numbers(report, "learned")[2] <= 0.2
    assert failed(report) == []
