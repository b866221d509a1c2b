"""The lab `rnn-step`: the worked example to four digits, and how little a tiny start remembers."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.labs.rnn_step import RnnStepParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Bars
from engine.labs import run
from engine.labs.base import Context
from engine.labs.rnn_step import Reading, read
from tests.engine.reports import failed, heatmap, number, numbers, table

EIGHT_WORDS = {"zh": "今天 早上 我 在 河边 看见 一只 鸟", "en": "this morning I saw a bird by water"}


@cache
def readings(init: str, seeds: int, hidden: int = 8, text: str = EIGHT_WORDS["en"]) -> list[Reading]:
    params = RnnStepParams(text=text, hidden=hidden, init=init, input_size=hidden)
    return [read(params, Context(seed=seed)) for seed in range(seeds)]


def first_sensitivities(init: str, seeds: int) -> list[float]:
    return [(r.sensitivities[0] / r.sensitivities[-1]).item() for r in readings(init, seeds)]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_worked_example_has_the_states_of_the_lesson(language: str) -> None:
    report = run("rnn-step", language=language)
    states = [[round(h, 4) for h in numbers(report, f"h_{t}")] for t in (1, 2, 3)]
    assert states == [[0.4621, 0.0], [0.2270, 0.6237], [0.2928, 0.7284]]
    assert numbers(report, "last_state") == numbers(report, "h_3")
    rows = table(report, "steps").rows
    assert rows[0][2:] == ("1.00 0.00", "0.5000 0.0000", "0.4621 0.0000")
    assert heatmap(report, "states").values.rows()[2] == numbers(report, "h_3")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_with_a_tiny_start_the_first_of_eight_words_leaves_nothing_visible(language: str) -> None:
    report = run("rnn-step", init="tiny", hidden=8, input_size=8, text=EIGHT_WORDS[language], language=language, seed=1)
    assert 1e-12 < number(report, "first_sensitivity") < 1e-9
    assert number(report, "moved_by_first") < 1e-8
    assert 0.005 < number(report, "moved_by_all_but_last") < 0.25


def test_the_tiny_start_forgets_a_word_within_seven_steps_in_every_seed() -> None:
    relative = first_sensitivities("tiny", 40)
    assert median(relative) == pytest.approx(2e-11, rel=0.4)
    assert max(relative) < 1e-9
    moved_by_seven = [r.moved[6].item() for r in readings("tiny", 40)]
    assert median(moved_by_seven) == pytest.approx(0.04, abs=0.015)
    assert max(moved_by_seven) < 0.25
    assert median(r.moved[5].item() for r in readings("tiny", 40)) == pytest.approx(0.0013, abs=0.0005)


@pytest.mark.parametrize("init", ["scaled", "orthogonal"])
def test_larger_starts_remember_the_first_word_a_billion_times_better(init: str) -> None:
    relative = first_sensitivities(init, 60)
    assert median(relative) == pytest.approx(0.04, abs=0.015)
    assert min(relative) > 0.001
    assert max(relative) < 0.6


def test_which_of_the_larger_starts_remembers_more_depends_on_the_seed() -> None:
    pairs = list(zip(first_sensitivities("scaled", 60), first_sensitivities("orthogonal", 60), strict=True))
    assert 10 < sum(scaled > orthogonal for scaled, orthogonal in pairs) < 50


@pytest.mark.parametrize(("hidden", "low", "high"), [(8, 0.09, 0.17), (2, 0.02, 0.08)])
def test_even_loud_noise_in_the_first_four_of_five_words_hardly_moves_a_tiny_net(
    hidden: int, low: float, high: float
) -> None:
    moved = []
    for seed, reading in enumerate(readings("tiny", 60, hidden, "a b c d e")):
        noisy = reading.inputs.clone()
        noisy[:4] = 5 * torch.randn(4, hidden, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        last = reading.layer(noisy)[0][-1].detach()
        own = reading.trace.hidden[-1]
        moved.append(((last - own).norm() / own.norm()).item())
    assert low < median(moved) < high


def test_the_bars_are_relative_to_the_last_input() -> None:
    report = run("rnn-step", init="scaled", hidden=4, text="the cat the dog")
    bars = report.panel("sensitivity")
    assert isinstance(bars, Bars)
    assert bars.labels == ("the", "cat", "the₂", "dog")
    assert list(bars.values.flat()) == numbers(report, "sensitivities")
    assert numbers(report, "sensitivities")[-1] == 1.0


def test_replacing_more_of_the_beginning_is_listed_word_by_word() -> None:
    report = run("rnn-step", init="orthogonal", hidden=6, text="a b c d e")
    rows = table(report, "memory").rows
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert [row[1] for row in rows] == numbers(report, "moved")


@settings(max_examples=40)
@given(
    words=st.integers(2, 24),
    hidden=st.integers(2, 16),
    input_size=st.integers(2, 8),
    init=st.sampled_from(["tiny", "scaled", "orthogonal"]),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_for_every_size_and_start(
    words: int, hidden: int, input_size: int, init: str, seed: int
) -> None:
    text = " ".join(f"w{i}" for i in range(words))
    report = run("rnn-step", text=text, hidden=hidden, input_size=input_size, init=init, seed=seed)
    assert failed(report) == []
    assert len(report.invariants) == 5


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        (
            {"text": "a b c d"},
            "text",
            "The worked example reads 3 tokens, but the text has 4; choose other first weights.",
        ),
        ({"hidden": 3}, "hidden", "The worked example has hidden width H 2, not 3; choose other first weights."),
        ({"input_size": 4}, "input_size", "The worked example has input width 2, not 4; choose other first weights."),
        ({"text": "a", "init": "tiny"}, "text", "text has 1 token (“a”), but at least 2 are needed to compare them."),
        ({"hidden": 17}, "hidden", "hidden width H is 17, but it must lie between 2 and 16."),
    ],
)
def test_what_does_not_fit_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("rnn-step", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
