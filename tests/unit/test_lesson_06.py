"""Lesson `gru`: what it computes by hand, counts, or prints as code; the eight seeds of its race run in `test-all`."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from engine import labs
from tests.engine.reports import number
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

SEEDS = range(8)


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("gru", language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q06-{n}" for n in range(1, 6)), *(f"R06-{n}" for n in range(1, 4))}
        assert {lab.name for lab in found.labs} == {"gru-conventions", "recall-race"}
        assert all(step.predictions for step in found.steps if step.lab)


def test_the_two_meanings_of_z_by_hand() -> None:
    z, h, n = 0.25, 0.8, -0.4
    assert round((1 - z) * n + z * h, 10) == -0.1
    assert round((1 - z) * h + z * n, 10) == 0.5


def test_the_two_places_of_the_reset_gate_by_hand() -> None:
    U, h, r, c_n = 0.9, 0.8, 0.5, 0.3
    assert round(math.tanh(U * (r * h) + c_n), 4) == 0.5784
    assert round(math.tanh(r * (U * h + c_n)), 4) == 0.4699


def test_the_counts_of_the_lesson_are_those_of_torch() -> None:
    cells = [sum(p.numel() for p in kind(32, 64).parameters()) for kind in (nn.RNN, nn.GRU, nn.LSTM)]
    output = sum(p.numel() for p in nn.Linear(64, 100).parameters())
    assert cells == [k * (64 * 32 + 64**2 + 2 * 64) for k in (1, 3, 4)]
    assert (answer_of("Q06-1", "gru"), answer_of("Q06-4", "gru")) == (cells[1], cells[2] / cells[0])
    assert (output, cells[0] + output, cells[2] + output) == (6500, 12772, 31588)
    assert round((cells[2] + output) / (cells[0] + output), 1) == 2.5


def test_guessing_costs_what_the_question_says() -> None:
    assert answer_of("R06-3", "gru") == round(math.log(4), 2)


@pytest.mark.parametrize("gradient", [3e-6, -2.0])
def test_the_first_step_of_adam_is_the_rate_whatever_the_gradient(gradient: float) -> None:
    weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
    weight.grad = torch.full((1,), gradient, dtype=torch.float64)
    torch.optim.Adam([weight], lr=0.005).step()
    assert weight.item() == pytest.approx(-math.copysign(0.005, gradient), rel=0.005)


def test_what_is_left_after_twenty_and_forty_steps() -> None:
    assert round(0.5**20 * 1e6, 1) == 1.0
    assert (round(0.95**20, 2), round(0.95**40, 2)) == (0.36, 0.13)
    assert round(0.5**40 * 1e12, 1) == 0.9


def test_a_state_of_a_gru_stays_within_1_and_a_cell_of_an_lstm_counts_beyond() -> None:
    torch.manual_seed(0)
    gru, lstm = nn.GRU(4, 8), nn.LSTM(4, 8)
    with torch.no_grad():
        for weight in (*gru.parameters(), *lstm.parameters()):
            weight.mul_(20)
        x = torch.randn(200, 1, 4)
        assert gru(x)[0].abs().max().item() <= 1
        assert lstm(x)[1][1].abs().max().item() > 2


def test_a_keep_bias_opens_the_gru() -> None:
    """The last table of lesson 5, which this lesson quotes: “some 1e-10” and “about .2”."""
    report = labs.run("lstm-highway", forget_bias=0.0)
    assert 1e-11 < number(report, "gru_state") < 1e-8
    assert number(report, "lstm_state") < 1e-8
    assert number(report, "gru_open_state") == pytest.approx(0.2, abs=0.05)


def test_two_directions_and_two_layers_have_the_shapes_in_the_code() -> None:
    (snippet,) = code("gru", "en")
    assert [snippet] == code("gru", "zh")
    scope: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(snippet, scope)
    assert (tuple(scope["states"].shape), tuple(scope["last"].shape)) == ((7, 1, 64), (4, 1, 32))
    assert "(7, 1, 64), (4, 1, 32)" in snippet


@pytest.mark.extreme
def test_of_eight_seeds_as_many_learn_as_the_lesson_says() -> None:
    said = {"rnn": 1, "gru": 7, "lstm": 0, "lstm_bias1": 2, "lstm_bias3": 8}
    reports = [labs.run("recall-race", seed=seed) for seed in SEEDS]
    learned = {name: sum(number(report, f"accuracy_{name}") > 0.95 for report in reports) for name in said}
    assert (learned["lstm"], learned["lstm_bias3"]) == (0, 8)
    assert all(abs(learned[name] - count) <= 2 for name, count in said.items())
    wider = [labs.run("recall-race", seed=seed, hidden=64, models="lstm") for seed in SEEDS]
    assert all(number(report, "accuracy_lstm") < 0.5 for report in wider)


@pytest.mark.extreme
def test_over_ten_distractors_the_rnn_learns_in_most_seeds() -> None:
    reports = [labs.run("recall-race", seed=seed, D=10, models="rnn,lstm") for seed in SEEDS]
    for name in ("rnn", "lstm"):
        assert sum(number(report, f"accuracy_{name}") > 0.95 for report in reports) >= 5
