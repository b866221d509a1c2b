"""Norms at any size, bounds of a matrix, gradients across attention and through depth."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.gradients.attention import attention_jacobians
from engine.gradients.bounds import half_life, largest_singular_value, powers, scale_to_radius, spectral_radius
from engine.gradients.depth import through_depth
from engine.gradients.norms import frobenius_norms, relative_differences, spectral_norms
from engine.layers.attention import causal_mask
from engine.layers.multi_head import MultiHeadAttention


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@settings(max_examples=40)
@given(rows=st.integers(1, 5), columns=st.integers(1, 5), exponent=st.integers(-300, 300), seed=st.integers(0, 999))
def test_norms_keep_their_digits_at_every_size(rows: int, columns: int, exponent: int, seed: int) -> None:
    matrix = normal(seed, rows, columns)
    scaled = (matrix * 10.0**exponent)[None]
    assert frobenius_norms(scaled).item() == pytest.approx(matrix.norm().item() * 10.0**exponent, rel=1e-12)
    spectral = torch.linalg.svdvals(matrix)[0].item()
    assert spectral_norms(scaled).item() == pytest.approx(spectral * 10.0**exponent, rel=1e-12)


def test_non_finite_matrices_have_non_finite_norms_and_leave_their_neighbours_alone() -> None:
    matrices = torch.eye(2, dtype=torch.float64).repeat(4, 1, 1)
    matrices[1, 0, 1] = math.inf
    matrices[2, 1, 0] = math.nan
    matrices[3] = 0.0
    for norms in (spectral_norms(matrices).tolist(), frobenius_norms(matrices).tolist()):
        assert norms[0] in (1.0, pytest.approx(math.sqrt(2)))
        assert norms[1] == math.inf
        assert math.isnan(norms[2])
        assert norms[3] == 0.0


def test_relative_differences_compare_tiny_matrices_too() -> None:
    tiny = torch.full((1, 2, 2), 1e-200, dtype=torch.float64)
    assert relative_differences(tiny * 1.5, tiny).item() == pytest.approx(0.5, rel=1e-12)
    assert relative_differences(torch.zeros(1, 2, 2), torch.zeros(1, 2, 2)).item() == 0.0
    assert relative_differences(tiny, torch.zeros(1, 2, 2, dtype=torch.float64)).item() == math.inf


def test_a_matrix_without_entries_has_no_norm() -> None:
    with pytest.raises(ValueError, match=r"a matrix of shape \(3, 0, 2\) has no entries and no norm"):
        spectral_norms(torch.zeros(3, 0, 2))


def test_the_spectral_radius_is_a_modulus() -> None:
    assert spectral_radius(torch.tensor([[0.0, -1.0], [1.0, 0.0]])) == pytest.approx(1.0)  # ±i
    assert spectral_radius(torch.tensor([[-1.1]])) == pytest.approx(1.1)
    shear = torch.tensor([[0.9, 5.0], [0.0, 0.9]], dtype=torch.float64)
    assert spectral_radius(shear) == pytest.approx(0.9, abs=1e-7)
    assert largest_singular_value(shear) == pytest.approx(5.16, abs=0.005)


@settings(max_examples=30)
@given(hidden=st.integers(1, 8), radius=st.floats(0.1, 3), seed=st.integers(0, 999))
def test_scaling_to_a_radius_gives_that_radius_below_the_largest_singular_value(
    hidden: int, radius: float, seed: int
) -> None:
    matrix = scale_to_radius(normal(seed, hidden, hidden), radius)
    assert spectral_radius(matrix) == pytest.approx(radius, rel=1e-9)
    assert largest_singular_value(matrix) >= radius * (1 - 1e-9)


def test_a_nilpotent_matrix_cannot_be_scaled() -> None:
    with pytest.raises(ValueError, match="eigenvalues are all 0"):
        scale_to_radius(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), 0.9)


def test_powers_may_vanish_or_explode() -> None:
    assert powers(0.5, 3).tolist() == [0.5, 0.25, 0.125]
    assert powers(10.0, 400)[-1].item() == math.inf
    assert powers(0.1, 400)[-1].item() == 0.0


@pytest.mark.parametrize(
    ("factor", "steps"), [(0.5, 1.0), (0.731, 2.2), (0.9, 6.6), (0.953, 14.4), (0.99, 69.0), (0.8, 3.1)]
)
def test_the_half_life_of_a_constant_gate(factor: float, steps: float) -> None:
    assert half_life(factor) == pytest.approx(steps, abs=0.05)


def test_a_gate_that_never_closes_has_no_half_life() -> None:
    assert half_life(1.0) == math.inf
    assert half_life(0.0) == 0.0


@settings(max_examples=25)
@given(
    length=st.integers(1, 6),
    heads=st.integers(1, 3),
    d_k=st.integers(1, 3),
    d_v=st.integers(1, 3),
    causal=st.booleans(),
    position=st.integers(-1, 5),
    seed=st.integers(0, 999),
)
def test_the_gradient_of_self_attention_equals_autograds(
    length: int, heads: int, d_k: int, d_v: int, causal: bool, position: int, seed: int
) -> None:
    position = min(position, length - 1)
    width = heads * 2
    layer = MultiHeadAttention(
        width, heads, d_k=d_k, d_v=d_v, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    inputs, mask = normal(seed, length, width), causal_mask(length) if causal else None
    reference = torch.func.jacrev(lambda x: layer(x, mask)[0][position])(inputs)
    assert isinstance(reference, Tensor)
    _, trace = layer(inputs, mask)
    closed = attention_jacobians(layer, trace, position)
    assert (closed - reference.transpose(0, 1)).abs().max().item() <= 1e-12


def test_attention_takes_one_sentence() -> None:
    layer = MultiHeadAttention(4, 2)
    with pytest.raises(ValueError, match="this takes one sentence"):
        attention_jacobians(layer, layer(torch.zeros(2, 3, 4))[1])


def test_depth_reports_the_gradients_of_backward_for_every_layer() -> None:
    layers = [nn.Linear(3, 4, dtype=torch.float64), nn.Tanh(), nn.Linear(4, 2, dtype=torch.float64)]
    inputs = normal(0, 5, 3)
    depth = through_depth(layers, inputs, lambda output: output.square().sum())
    x = inputs.clone().requires_grad_()
    hidden = layers[0](x)
    hidden.retain_grad()
    output = layers[2](layers[1](hidden))
    output.square().sum().backward()
    assert hidden.grad is not None
    assert x.grad is not None
    assert depth.activation_gradients.tolist() == pytest.approx(
        [
            x.grad.norm().item(),
            hidden.grad.norm().item(),
            depth.activation_gradients[2].item(),
            (2 * output).norm().item(),
        ]
    )
    assert depth.activation_rms[0].item() == pytest.approx(inputs.square().mean().sqrt().item())
    norms = [
        math.sqrt(sum(p.grad.square().sum().item() for p in layer.parameters() if p.grad is not None))
        for layer in layers
    ]
    assert depth.parameter_gradients.tolist() == pytest.approx(norms)
    assert depth.parameter_gradients[1].item() == 0.0


def test_depth_takes_layers_that_return_a_trace() -> None:
    layer = MultiHeadAttention(4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    depth = through_depth([layer, layer], normal(1, 3, 4), lambda output: output.sum())
    assert depth.activation_gradients.shape == (3,)
    assert depth.activation_gradients.isfinite().all()
