"""Lesson `lstm`: what it computes by hand, counts, or prints as code."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

H, D_IN = 32, 16


def sigmoid(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("lstm", language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q05-{n}" for n in range(1, 7)), *(f"R05-{n}" for n in range(1, 4))}
        assert {lab.name for lab in found.labs} == {"lstm-step", "lstm-highway"}
        assert all(step.predictions for step in found.steps if step.lab)


def test_one_step_by_hand() -> None:
    f, i, g, o = sigmoid(1), sigmoid(0), math.tanh(0.5), sigmoid(2)
    assert [round(number, 4) for number in (f, i, g, o)] == [0.7311, 0.5, 0.4621, 0.8808]
    c = f * 1 + i * g
    assert (round(c, 4), round(o * math.tanh(c), 4)) == (0.9621, 0.6564)
    assert answer_of("Q05-1", "lstm") == round(0.5 * math.tanh(0.8 * 2 - 0.5), 4)
    assert answer_of("R05-2", "lstm") == sigmoid(0)


def test_the_step_in_code_is_torchs_cell_and_the_same_in_both_languages() -> None:
    (snippet,) = code("lstm", "en")
    assert [snippet] == code("lstm", "zh")
    scope: dict[str, Any] = {"torch": torch}
    exec(snippet, scope)
    torch.manual_seed(0)
    cell = nn.LSTMCell(5, 3, dtype=torch.float64)
    x, h, c = (torch.randn(size, dtype=torch.float64) for size in (5, 3, 3))
    stacked = torch.cat([cell.weight_hh, cell.weight_ih], dim=1)  # (4H, H + d_in), order i, f, g, o
    W = dict(zip("ifgo", stacked.chunk(4), strict=True))
    b = dict(zip("ifgo", (cell.bias_ih + cell.bias_hh).chunk(4), strict=True))
    for ours, theirs in zip(scope["lstm_step"](x, h, c, W, b), cell(x, (h, c)), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-12, rtol=0)


def test_with_a_sigmoid_for_the_candidate_a_cell_that_starts_at_0_never_falls_below_it() -> None:
    generator = torch.Generator().manual_seed(0)
    c = torch.zeros(1000)
    for _ in range(50):
        f, i, g = torch.randn(3, 1000, generator=generator).mul(5).sigmoid()
        c = f * c + i * g
        assert c.min().item() >= 0


@pytest.mark.parametrize(
    ("f", "left", "half_life"), [(0.5, "8e-31", 1), (0.9, "2.7e-05", 6.6), (0.95, "0.0059", 13.5), (0.99, "0.366", 69)]
)
def test_the_table_of_half_lives(f: float, left: str, half_life: float) -> None:
    digits = len(left.split("e")[0].replace(".", "").lstrip("0"))
    assert float(f"{f**100:.{digits}g}") == float(left)
    assert math.log(0.5) / math.log(f) == pytest.approx(half_life, abs=0.05)


def test_the_numbers_of_the_quiz() -> None:
    assert answer_of("Q05-5", "lstm") == round(math.log(0.5) / math.log(0.9), 1)
    z = torch.cat([torch.zeros(H), torch.zeros(D_IN)])
    stacked = torch.cat([nn.LSTMCell(D_IN, H).weight_hh, nn.LSTMCell(D_IN, H).weight_ih], dim=1)
    W_f = stacked.chunk(4)[1]
    assert answer_of("Q05-4", "lstm") == tuple(str(n) for n in (len(z), *W_f.shape, H))


def test_both_biases_at_1_make_a_bias_of_2() -> None:
    lstm = nn.LSTM(D_IN, H)
    slice_ = slice(H, 2 * H)
    biases: list[Tensor] = [getattr(lstm, name) for name in ("bias_ih_l0", "bias_hh_l0")]
    with torch.no_grad():
        for bias in biases:
            bias[slice_] = 1.0
    assert torch.stack(biases).sum(0)[slice_].tolist() == [2.0] * H
    assert (round(sigmoid(1), 2), round(sigmoid(3), 2)) == (0.73, 0.95)


def test_an_lstm_has_four_times_the_weights_and_the_products_of_an_rnn() -> None:
    counts = [sum(weight.numel() for weight in kind(D_IN, H).parameters()) for kind in (nn.RNN, nn.LSTM)]
    assert counts == [1600, 6400]
    matrices = [
        sum(weight.numel() for weight in kind(D_IN, H).parameters() if weight.dim() == 2) for kind in (nn.RNN, nn.LSTM)
    ]
    assert matrices == [1536, 6144]


def test_what_the_model_answer_says_of_200_words() -> None:
    assert round(0.99**200, 2) == 0.13
