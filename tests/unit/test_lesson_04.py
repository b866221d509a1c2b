"""Lesson `gradients`: what it computes by hand, counts in 200 seeds, or prints as code."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.tasks.recall import SYMBOLS
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

MATRIX = torch.tensor([[0.9, 5.0], [0.0, 0.9]], dtype=torch.float64)


def norm(matrix: Tensor) -> float:
    return float(torch.linalg.matrix_norm(matrix, 2))


def power(matrix: Tensor, k: int) -> Tensor:
    result: Tensor = torch.linalg.matrix_power(matrix, k)
    return result


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("gradients", language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q04-{n}" for n in range(1, 7)), *(f"R04-{n}" for n in range(1, 4))}
        assert {lab.name for lab in found.labs} == {"jacobian", "clip"}
        assert all(step.predictions for step in found.steps if step.lab)


def test_the_products_by_hand_and_with_the_slip() -> None:
    states, h = [], 0.0
    for x in (1.0, 0.0, -1.0):
        h = math.tanh(0.5 * h + x)
        states.append(h)
    assert [round(state, 4) for state in states] == [0.7616, 0.3634, -0.6741]
    assert [round(1 - state**2, 4) for state in states] == [0.4200, 0.8679, 0.5455]
    right = math.prod(0.5 * (1 - state**2) for state in states[1:])
    wrong = math.prod(0.5 * (1 - math.tanh(state) ** 2) for state in states[1:])
    assert (round(right, 4), round(wrong, 4)) == (0.1184, 0.1438)
    assert (round(1 - math.tanh(1) ** 2, 4), round(1 - math.tanh(math.tanh(1)) ** 2, 4)) == (0.4200, 0.5878)
    assert 0.5**100 < 1e-30


def test_the_two_sizes_of_the_matrix() -> None:
    assert torch.linalg.eigvals(MATRIX).abs().tolist() == pytest.approx([0.9, 0.9])
    lengths = [(MATRIX @ x).norm().item() for x in torch.eye(2, dtype=torch.float64)]
    assert [round(length, 2) for length in lengths] == [0.90, 5.08]
    assert round(norm(MATRIX), 2) == 5.16
    assert answer_of("Q04-2", "gradients") == pytest.approx(norm(power(MATRIX, 9)), abs=0.05)


def test_the_corner_of_the_power_grows_until_the_ninth() -> None:
    for k in range(1, 60):
        assert power(MATRIX, k)[0, 1].item() == pytest.approx(k * 5 * 0.9 ** (k - 1), rel=1e-12)
        assert (0.9 * (k + 1) / k > 1 + 1e-12) == (k < 9)


def test_a_non_normal_matrix_may_fall_at_once() -> None:
    mild = torch.tensor([[0.5, 0.3], [0.0, 0.5]], dtype=torch.float64)
    assert [round(norm(power(mild, k)), 3) for k in (1, 2, 3)] == [0.672, 0.442, 0.281]


def test_the_counterexamples_to_the_rule_of_the_eigenvalues() -> None:
    assert round((-1.1) ** 50) == 117
    rotation = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    assert sorted(torch.linalg.eigvals(rotation).imag.tolist()) == [-1, 1]
    assert [norm(power(rotation, k)) for k in (1, 2, 50)] == [1, 1, 1]


@pytest.mark.parametrize("seed", range(8))
def test_the_state_stays_bounded_while_its_derivative_exceeds_a_hundred(seed: int) -> None:
    snippets = code("gradients", "en")
    assert snippets == code("gradients", "zh")
    torch.manual_seed(seed)
    scope: dict[str, Any] = {"torch": torch}
    exec(snippets[0], scope)
    assert scope["h"].abs().max().item() <= 1
    assert norm(scope["J"]) > 100


def test_the_three_lines_of_clipping_shorten_the_step_and_return_the_norm_before() -> None:
    model = nn.Linear(2, 1, bias=False)
    before = model.weight.detach().clone()
    scope: dict[str, Any] = {
        "nn": nn,
        "model": model,
        "loss": model(torch.tensor([3.0, 4.0])).sum(),
        "optimizer": torch.optim.SGD(model.parameters(), 1.0),
    }
    exec(code("gradients", "en")[1], scope)
    assert scope["norm"].item() == pytest.approx(5)
    assert (before - model.weight).flatten().tolist() == pytest.approx([0.6, 0.8], abs=1e-6)


def test_guessing_among_four_symbols_costs_ln_4() -> None:
    assert round(math.log(SYMBOLS), 3) == 1.386
    assert round(0.5**20 * 1e6, 1) == 1.0
