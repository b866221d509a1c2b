"""Scaled dot-product attention against torch's own, in float64, on shapes nobody chose."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.labs.base import largest
from engine.layers.attention import attend, causal_mask, masked_softmax

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**31)


def draw(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


@settings(max_examples=60, deadline=None)
@given(batch=SIZES, queries=SIZES, keys=SIZES, d_k=SIZES, d_v=SIZES, seed=SEEDS)
def test_attention_equals_torch_with_any_mask(
    batch: int, queries: int, keys: int, d_k: int, d_v: int, seed: int
) -> None:
    query, key, value = draw(seed, (batch, queries, d_k), (batch, keys, d_k), (batch, keys, d_v))
    mask = torch.rand(batch, queries, keys, generator=torch.Generator().manual_seed(seed)) < 0.6
    output, trace = attend(query, key, value, mask)
    reference = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    open_rows = mask.any(-1)
    assert largest((output - reference)[open_rows]) <= 1e-10
    assert torch.equal(output[~open_rows], torch.zeros_like(output[~open_rows]))
    assert torch.equal(trace.weights[~mask], torch.zeros_like(trace.weights[~mask]))
    assert (trace.weights.sum(-1) - open_rows.double()).abs().max().item() <= 1e-12


@settings(max_examples=30, deadline=None)
@given(queries=SIZES, keys=SIZES, d_k=SIZES, temperature=st.floats(0.1, 5.0), seed=SEEDS)
def test_temperature_divides_the_scores(queries: int, keys: int, d_k: int, temperature: float, seed: int) -> None:
    query, key, value = draw(seed, (1, queries, d_k), (1, keys, d_k), (1, keys, 3))
    output, trace = attend(query, key, value, temperature=temperature)
    reference = F.scaled_dot_product_attention(query, key, value, scale=1 / (temperature * math.sqrt(d_k)))
    assert (output - reference).abs().max().item() <= 1e-10
    assert (trace.scores - trace.products / (temperature * math.sqrt(d_k))).abs().max().item() <= 1e-10


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_a_row_that_may_attend_to_nothing_is_zero_in_every_dtype(dtype: torch.dtype) -> None:
    query, key, value = (tensor.to(dtype) for tensor in draw(0, (3, 4), (5, 4), (5, 2)))
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    output, trace = attend(query, key, value, mask)
    assert output.dtype == dtype
    assert trace.weights[1].tolist() == [0.0] * 5
    assert output[1].tolist() == [0.0, 0.0]
    assert (trace.weights[[0, 2]].double().sum(-1) - 1).abs().max().item() <= 2 * torch.finfo(dtype).eps


def test_gradients_stay_finite_and_correct_beside_a_fully_masked_row() -> None:
    query, key, value = (tensor.requires_grad_() for tensor in draw(1, (3, 4), (5, 4), (5, 2)))
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, mask)[0], (query, key, value))


def test_a_causal_mask_lets_a_position_see_itself_and_the_past() -> None:
    weights = masked_softmax(torch.zeros(4, 4, dtype=torch.float64), causal_mask(4))
    expected = [[1 / (i + 1) if j <= i else 0.0 for j in range(4)] for i in range(4)]
    assert (weights - torch.tensor(expected, dtype=torch.float64)).abs().max().item() <= 1e-15


def test_scores_of_any_size_give_finite_weights() -> None:
    scores = torch.tensor([[2000.0, 1999.0], [-2000.0, -2001.0]], dtype=torch.float64)
    expected = 1 / (1 + math.exp(-1))
    assert (masked_softmax(scores)[:, 0] - expected).abs().max().item() <= 1e-12


def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="boolean"):
        masked_softmax(torch.zeros(2, 2), torch.ones(2, 2))


def test_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match="queries have width 4 and keys 5"):
        attend(torch.zeros(2, 4), torch.zeros(3, 5), torch.zeros(3, 2))
    with pytest.raises(ValueError, match="3 keys and 2 values"):
        attend(torch.zeros(2, 4), torch.zeros(3, 4), torch.zeros(2, 2))
