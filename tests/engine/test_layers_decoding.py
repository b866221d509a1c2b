"""Choosing tokens and the loop around it, apart from any model."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.layers.decoding import generate, greedy, next_token_probabilities, sampled
from tests.engine.agreement import normal, seeded

float64 = torch.float64
LOGITS = torch.tensor([2.0, 1.0, 0.0], dtype=float64)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(0.5, [0.8668, 0.1173, 0.0159]), (1.0, [0.6652, 0.2447, 0.0900]), (2.0, [0.5065, 0.3072, 0.1863])],
)
def test_temperature_as_in_the_lesson(temperature: float, expected: list[float]) -> None:
    assert next_token_probabilities(LOGITS, temperature=temperature).tolist() == pytest.approx(expected, abs=5e-5)


def test_top_p_keeps_the_fewest_tokens_that_reach_it() -> None:
    assert next_token_probabilities(LOGITS, top_p=0.9).tolist() == pytest.approx([0.7311, 0.2689, 0.0], abs=5e-5)
    assert next_token_probabilities(LOGITS, top_p=0.5).tolist() == [1.0, 0.0, 0.0]
    assert next_token_probabilities(LOGITS, top_p=1.0).tolist() == pytest.approx([0.6652, 0.2447, 0.0900], abs=5e-5)


@given(st.integers(1, 12), st.integers(1, 9), st.floats(0.05, 1.0), st.integers(0, 999))
def test_probabilities_sum_to_one_and_respect_both_cuts(classes: int, k: int, p: float, seed: int) -> None:
    logits = 3 * normal(seeded(seed), 2, classes)
    found = next_token_probabilities(logits, top_k=k, top_p=p)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, dtype=float64))
    assert ((found > 0).sum(-1) <= k).all()
    assert torch.equal(found.argmax(-1), logits.argmax(-1))


@given(st.integers(2, 8), st.integers(0, 99))
def test_temperature_zero_and_top_k_one_are_greedy(classes: int, seed: int) -> None:
    logits = normal(seeded(seed), 3, classes)
    for choose in (sampled(temperature=0), sampled(top_k=1), sampled(top_p=1e-9)):
        assert torch.equal(choose(logits), greedy(logits))


def test_draws_follow_the_probabilities_and_the_seed() -> None:
    logits = LOGITS.expand(4000, 3)
    drawn = sampled(temperature=2.0, generator=seeded(0))(logits)
    shares = torch.bincount(drawn, minlength=3) / 4000
    torch.testing.assert_close(shares, next_token_probabilities(LOGITS, temperature=2.0).float(), rtol=0, atol=0.035)
    assert torch.equal(drawn, sampled(temperature=2.0, generator=seeded(0))(logits))
    assert sampled(generator=seeded(0))(LOGITS).shape == ()


def count_up(read: Tensor, memory: int | None) -> tuple[Tensor, int]:
    """A model that says the next number of four and remembers how many tokens it has read."""
    logits = torch.nn.functional.one_hot((read[..., -1] + 1) % 4, 4).double()
    return logits, (memory or 0) + read.shape[-1]


def test_generation_goes_on_from_its_own_words_and_reads_each_once() -> None:
    read: list[tuple[int, int | None]] = []

    def step(tokens: Tensor, memory: int | None) -> tuple[Tensor, int]:
        read.append((tokens.shape[-1], memory))
        return count_up(tokens, memory)

    prompt = torch.tensor([[0, 1], [3, 2]])
    written = torch.stack(list(generate(step, prompt, 3, greedy)), -1)
    assert written.tolist() == [[2, 3, 0], [3, 0, 1]]
    assert read == [(2, None), (1, 2), (1, 3)]
    read.clear()
    again = torch.stack(list(generate(step, prompt, 3, greedy, cached=False)), -1)
    assert torch.equal(again, written)
    assert read == [(2, None), (3, None), (4, None)]


def test_a_text_that_has_stopped_repeats_the_stop_and_all_stopped_ends() -> None:
    prompt = torch.tensor([[0], [2]])
    written = torch.stack(list(generate(count_up, prompt, 10, greedy, stop=3)), -1)
    assert written.tolist() == [[1, 2, 3], [3, 3, 3]]


def test_impossible_cuts_are_named() -> None:
    with pytest.raises(ValueError, match="top-k is 0; at least one token must remain"):
        next_token_probabilities(LOGITS, top_k=0)
    with pytest.raises(ValueError, match=r"top-p is 1.5; it must be above 0 and at most 1"):
        next_token_probabilities(LOGITS, top_p=1.5)
    with pytest.raises(ValueError, match="the temperature is -1"):
        next_token_probabilities(LOGITS, temperature=-1)
