"""Lesson `cost`: what it computes by hand, counts, or prints as code."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from engine.labs.cost.formulas import Layer
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("cost", language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q14-{n}" for n in range(1, 7)), *(f"R14-{n}" for n in range(1, 4))}
        assert {lab.params.get("show", "FLOPs") for lab in found.labs} == {"FLOPs", "memory", "weights", "wall-clock"}
        assert all(step.predictions for step in found.steps if step.lab)


@pytest.mark.parametrize(("n", "d"), [(8, 64), (128, 64), (1024, 64), (384, 512)])
def test_a_layer_costs_one_and_a_half_lstms_and_more(n: int, d: int) -> None:
    layer = Layer(n, d)
    assert layer.encoder / layer.lstm == 1.5 + n / (4 * d) > 1
    assert layer.projections + layer.feed_forward == 24 * n * d**2


def test_at_1024_tokens_the_operations_are_five_and_a_half_times_an_lstms() -> None:
    assert Layer(1024, 64).encoder / Layer(1024, 64).lstm == 5.5


@pytest.mark.parametrize("expansion", [2, 4, 8])
def test_the_core_meets_projections_and_feed_forward_where_the_table_says(expansion: int) -> None:
    d = 64
    layer = Layer((2 + expansion) * d, d, expansion)
    assert layer.core == layer.projections + layer.feed_forward


def test_the_numbers_of_the_quiz() -> None:
    n = answer_of("Q14-1", "cost")
    assert isinstance(n, (int, float))
    assert Layer(int(n) * 64, 64).core == Layer(int(n) * 64, 64).projections
    assert answer_of("Q14-5", "cost") == round(12 * Layer(2048, 768, heads=12).score_bytes / 1e9, 2)
    assert answer_of("R14-2", "cost") == (torch.zeros(100, 8) @ torch.zeros(8, 100)).numel()


def test_the_streamed_softmax_by_hand_is_the_one_in_one_go() -> None:
    blocks = [([0.0, math.log(2)], [10.0, 20.0]), ([math.log(4)], [5.0])]
    m, total, output, seen = -1e300, 0.0, 0.0, []
    for scores, values in blocks:
        new = max(m, *scores)
        total = total * math.exp(m - new) + sum(math.exp(z - new) for z in scores)
        output = output * math.exp(m - new) + sum(math.exp(z - new) * v for z, v in zip(scores, values, strict=True))
        m = new
        seen += [m, total, output]
    assert seen == pytest.approx([math.log(2), 1.5, 25, math.log(4), 1.75, 17.5])
    weights = torch.tensor([0, math.log(2), math.log(4)]).softmax(0)
    assert weights.tolist() == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert output / total == pytest.approx(10) == (weights @ torch.tensor([10.0, 20.0, 5.0])).item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("block", [1, 5, 37, 64])
def test_the_code_gives_attention_in_one_go_even_for_large_scores(block: int, dtype: torch.dtype) -> None:
    (snippet,) = code("cost", "en")
    assert [snippet] == code("cost", "zh")
    scope: dict[str, Any] = {"torch": torch}
    exec(snippet, scope)
    generator = torch.Generator().manual_seed(0)
    q, K, V = (torch.randn(*size, generator=generator, dtype=dtype) for size in ((6,), (37, 6), (37, 4)))
    for factor in (1, 1000):
        streamed = scope["streaming_attention"](factor * q, K, V, block)
        expected = F.scaled_dot_product_attention(factor * q[None], K, V)[0]
        assert torch.allclose(streamed, expected, atol=1e-4 if dtype == torch.float32 else 1e-12)


def test_from_minus_infinity_a_masked_block_is_not_a_number() -> None:
    hidden = torch.full((3,), -math.inf)
    assert torch.isnan(torch.exp(hidden - hidden.max())).all()
    assert torch.equal(torch.exp(hidden - torch.finfo(torch.float32).min), torch.zeros(3))


def test_sharing_keys_and_values_among_three_of_nine_heads_keeps_a_third() -> None:
    n, head_width = 10, 8
    every, shared = (2 * torch.zeros(heads, n, head_width).numel() for heads in (9, 3))
    assert shared / every == 1 / 3
    assert every == 2 * n * 9 * head_width


def test_the_example_of_the_scaling_law() -> None:
    weights = 1e8
    tokens = 20 * weights
    assert tokens == 2e9
    assert 6 * weights * tokens == pytest.approx(1.2e18)
    assert 6 * (10 * weights) * (20 * 10 * weights) == pytest.approx(100 * 6 * weights * tokens)


def test_six_narrow_encoder_layers_have_fewer_weights_than_two_wide_lstms() -> None:
    assert 6 * 12 * 256**2 < 5e6 < 3 * 6 * 12 * 256**2 < 2 * 8 * 1024**2
