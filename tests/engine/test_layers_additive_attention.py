"""Additive attention: the worked example, different widths, masks, and what the lesson says about it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.layers.additive_attention import AdditiveAttention
from tests.engine.agreement import agreement, normal, seeded

widths = st.tuples(*(st.integers(1, 6) for _ in range(5)))  # batch, sources, d_s, d_h, d_a
seeds = st.integers(0, 9999)
float64 = torch.float64


def test_equals_the_formula_position_by_position() -> None:
    with agreement("Σ_j α_j h_j, one position at a time") as agree:

        @given(widths, seeds)
        def check(size: tuple[int, int, int, int, int], seed: int) -> None:
            batch, sources, d_s, d_h, d_a = size
            generator = seeded(seed)
            layer = AdditiveAttention(d_s, d_h, d_a, generator=generator, dtype=float64)
            state, states = normal(generator, batch, d_s), normal(generator, batch, sources, d_h)
            context, trace = layer(state, states)
            for b in range(batch):
                compared = [layer.decoder_weight @ state[b] + layer.encoder_weight @ h for h in states[b]]
                energies = torch.stack([layer.score_vector @ torch.tanh(sum_) for sum_ in compared])
                weights = energies.exp() / energies.exp().sum()
                agree(trace.energies[b], energies)
                agree(trace.weights[b], weights)
                agree(context[b], (weights[:, None] * states[b]).sum(0))

        check()


def test_worked_example_of_the_lesson() -> None:
    layer = AdditiveAttention(1, 2, 1, dtype=float64)
    energies = torch.tensor([1.0, 2.0, 0.0], dtype=float64)
    with torch.no_grad():
        layer.decoder_weight.zero_()
        layer.score_vector.fill_(4.0)
    states = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=float64)
    keys = torch.atanh(energies / 4)[:, None]  # what gives the energies 1, 2, 0
    context, trace = layer(torch.zeros(1, dtype=float64), states, keys=keys)
    torch.testing.assert_close(trace.energies, energies)
    assert trace.weights.tolist() == pytest.approx([0.2447, 0.6652, 0.0900], abs=5e-5)
    assert context.tolist() == pytest.approx([0.3348, 0.7553], abs=1e-4)


@given(widths, seeds)
def test_masked_positions_have_weight_zero_and_do_not_matter(size: tuple[int, int, int, int, int], seed: int) -> None:
    batch, sources, d_s, d_h, d_a = size
    generator = seeded(seed)
    layer = AdditiveAttention(d_s, d_h, d_a, generator=generator, dtype=float64)
    state, states = normal(generator, batch, d_s), normal(generator, batch, sources, d_h)
    mask = torch.rand(batch, sources, generator=generator) < 0.6
    context, trace = layer(state, states, mask)
    assert (trace.weights[~mask] == 0).all()
    open_rows = mask.any(-1)
    torch.testing.assert_close(trace.weights.sum(-1), open_rows.double(), rtol=0, atol=1e-12)
    assert (context[~open_rows] == 0).all()
    other = torch.where(mask[..., None], states, 5.0)
    torch.testing.assert_close(layer(state, other, mask)[0], context, rtol=0, atol=1e-12)


def test_gradients_stay_finite_when_a_sentence_is_all_padding() -> None:
    layer = AdditiveAttention(3, 4, 2, dtype=float64)
    state, states = normal(seeded(0), 2, 3).requires_grad_(), normal(seeded(1), 2, 5, 4).requires_grad_()
    context, _ = layer(state, states, torch.tensor([[True] * 5, [False] * 5]))
    context.sum().backward()
    for tensor in (state, states, *layer.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


def test_several_decoder_steps_at_once_equal_one_after_the_other() -> None:
    layer = AdditiveAttention(3, 4, 2, generator=seeded(0), dtype=float64)
    steps, states = normal(seeded(1), 5, 3), normal(seeded(2), 6, 4)
    together, trace = layer(steps, states)
    assert trace.weights.shape == (5, 6)
    torch.testing.assert_close(together, torch.stack([layer(step, states)[0] for step in steps]))


def test_the_weights_follow_the_states_when_they_are_permuted() -> None:
    layer = AdditiveAttention(3, 4, 2, generator=seeded(0), dtype=float64)
    state, states, order = normal(seeded(1), 3), normal(seeded(2), 6, 4), torch.tensor([3, 0, 5, 1, 4, 2])
    context, trace = layer(state, states)
    permuted, permuted_trace = layer(state, states[order])
    torch.testing.assert_close(permuted_trace.weights, trace.weights[order], rtol=0, atol=1e-12)
    torch.testing.assert_close(permuted, context, rtol=0, atol=1e-12)


def test_all_weights_zero_looks_at_every_open_position_alike() -> None:
    layer = AdditiveAttention(3, 4, 2, dtype=float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    mask = torch.tensor([True, True, True, False, False])
    _, trace = layer(normal(seeded(1), 3), normal(seeded(2), 5, 4), mask)
    assert trace.weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0], abs=1e-15)


def test_a_small_temperature_sharpens() -> None:
    layer = AdditiveAttention(3, 4, 2, generator=seeded(0), dtype=float64)
    state, states = normal(seeded(1), 3), normal(seeded(2), 6, 4)
    peaks = [layer(state, states, temperature=t)[1].weights.max().item() for t in (5.0, 1.0, 0.2)]
    assert peaks == sorted(peaks)
    assert peaks[0] < peaks[2]


def test_wrong_widths_are_named() -> None:
    layer = AdditiveAttention(3, 4, 2)
    with pytest.raises(ValueError, match="the decoder state has width 4 and the encoder states 4; this attention "):
        layer(torch.zeros(4), torch.zeros(5, 4))
    with pytest.raises(ValueError, match=r"the encoder states have shape \(0, 4\): there is nothing to attend to"):
        layer(torch.zeros(3), torch.zeros(0, 4))
    with pytest.raises(TypeError, match="a mask is boolean"):
        layer(torch.zeros(3), torch.zeros(5, 4), torch.ones(5))
