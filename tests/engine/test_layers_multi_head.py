"""Multi-head attention against torch.nn.MultiheadAttention, and the shared-slice design it is mistaken for."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.layers.multi_head import MultiHeadAttention, merge_heads, split_heads
from engine.layers.shared_slice import SharedSliceAttention

SIZES = st.integers(1, 5)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


@torch.no_grad()
def torch_twin(layer: MultiHeadAttention) -> nn.MultiheadAttention:
    """Return torch's layer with the same weights."""
    width = layer.output_weight.shape[0]
    twin = nn.MultiheadAttention(width, layer.heads, batch_first=True, dtype=torch.float64)
    twin.in_proj_weight.copy_(torch.cat([layer.query_weight, layer.key_weight, layer.value_weight]))
    assert layer.query_bias is not None
    assert layer.key_bias is not None
    assert layer.value_bias is not None
    assert layer.output_bias is not None
    twin.in_proj_bias.copy_(torch.cat([layer.query_bias, layer.key_bias, layer.value_bias]))
    twin.out_proj.weight.copy_(layer.output_weight)
    twin.out_proj.bias.copy_(layer.output_bias)
    return twin.eval()


@settings(max_examples=40, deadline=None)
@given(batch=SIZES, length=SIZES, heads=SIZES, d_k=SIZES, seed=st.integers(0, 10_000))
def test_output_and_weights_equal_torchs(batch: int, length: int, heads: int, d_k: int, seed: int) -> None:
    width = heads * d_k
    layer = MultiHeadAttention(width, heads, generator=generator(seed), dtype=torch.float64)
    with torch.no_grad():
        for bias in (layer.query_bias, layer.key_bias, layer.value_bias, layer.output_bias):
            assert bias is not None
            bias.normal_(generator=generator(seed + 1))
    inputs = normal(seed + 2, batch, length, width)
    mask = torch.rand(length, length, generator=generator(seed)) < 0.5
    mask.fill_diagonal_(True)
    output, trace = layer(inputs, mask)
    reference, weights = torch_twin(layer)(inputs, inputs, inputs, attn_mask=~mask, average_attn_weights=False)
    assert (output - reference).abs().max().item() <= 1e-10
    assert (trace.weights - weights).abs().max().item() <= 1e-10


def test_a_padding_mask_blocks_keys_for_every_head_and_query() -> None:
    layer = MultiHeadAttention(8, 2, generator=generator(), dtype=torch.float64)
    present = torch.tensor([[True, True, True, False], [True, False, False, False]])
    inputs = normal(1, 2, 4, 8)
    output, trace = layer(inputs, present[:, None, None, :])
    reference, _ = torch_twin(layer)(inputs, inputs, inputs, key_padding_mask=~present)
    assert (output - reference).abs().max().item() <= 1e-10
    assert trace.weights[0, :, :, 3].abs().max().item() == 0.0
    assert trace.weights[1, :, :, 1:].abs().max().item() == 0.0


def test_the_start_is_that_of_torch() -> None:
    width = 64
    layer = MultiHeadAttention(width, 4, generator=generator(), dtype=torch.float64)
    twin = nn.MultiheadAttention(width, 4)
    stacked = torch.cat([layer.query_weight, layer.key_weight, layer.value_weight])
    assert stacked.abs().max().item() == pytest.approx(math.sqrt(6 / (4 * width)), rel=1e-3)
    assert twin.in_proj_weight.abs().max().item() == pytest.approx(math.sqrt(6 / (4 * width)), rel=1e-3)
    assert stacked.std().item() == pytest.approx(twin.in_proj_weight.std().item(), rel=0.05)
    assert layer.output_weight.abs().max().item() == pytest.approx(1 / math.sqrt(width), rel=1e-2)
    assert layer.output_weight.std().item() == pytest.approx(twin.out_proj.weight.std().item(), rel=0.05)
    biases = (layer.query_bias, layer.key_bias, layer.value_bias, layer.output_bias)
    assert all(bias is not None and not bias.any() for bias in biases)


def test_d_k_and_d_v_may_differ_and_need_not_divide_the_width() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5, generator=generator(), dtype=torch.float64)
    output, trace = layer(normal(0, 2, 7, 10))
    assert trace.query.shape == (2, 3, 7, 4)
    assert trace.head_outputs.shape == (2, 3, 7, 5)
    assert output.shape == (2, 7, 10)


def test_heads_that_do_not_divide_the_width_are_refused_naming_those_that_do() -> None:
    with pytest.raises(
        ValueError, match=r"width 12 cannot be cut into 5 equal heads; these divide it: 1, 2, 3, 4, 6, 12"
    ):
        MultiHeadAttention(12, 5)
    with pytest.raises(ValueError, match="width 4 cannot be cut into 3"):
        SharedSliceAttention(4, 3)


def test_head_i_takes_consecutive_dims_and_merging_undoes_splitting() -> None:
    x = normal(0, 2, 5, 12)
    heads = split_heads(x, 3)
    assert all(torch.equal(heads[:, i], x[..., 4 * i : 4 * i + 4]) for i in range(3))
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize(("heads", "count"), [(1, 262_400), (2, 114_944), (4, 78_080), (8, 68_864)])
def test_only_the_shared_slice_design_gets_smaller_with_more_heads(heads: int, count: int) -> None:
    full = MultiHeadAttention(256, heads, bias=False, device="meta")
    sliced = SharedSliceAttention(256, heads, device="meta")
    assert sum(p.numel() for p in full.parameters()) == 262_400
    assert sum(p.numel() for p in sliced.parameters()) == count


def test_a_shared_slice_head_is_blind_to_the_other_slices_and_exchanging_slices_exchanges_maps() -> None:
    layer = SharedSliceAttention(16, 4, generator=generator(), dtype=torch.float64)
    inputs = normal(1, 6, 16)
    _, before = layer(inputs)
    changed = torch.cat([inputs[:, :4], normal(2, 6, 12)], dim=1)
    _, after = layer(changed)
    assert torch.equal(before.weights[0], after.weights[0])
    assert (before.weights[1] - after.weights[1]).abs().max().item() > 1e-3
    exchanged = torch.cat([inputs[:, 4:8], inputs[:, :4], inputs[:, 8:]], dim=1)
    _, swapped = layer(exchanged)
    assert (swapped.weights[[1, 0, 2, 3]] - before.weights).abs().max().item() <= 1e-15


def test_every_full_head_reads_every_dim() -> None:
    layer = MultiHeadAttention(8, 2, generator=generator(), dtype=torch.float64)
    inputs = normal(1, 5, 8)
    _, before = layer(inputs)
    for dim in range(8):
        changed = inputs.clone()
        changed[:, dim] += normal(2, 5)
        _, after = layer(changed)
        assert (after.weights - before.weights).abs().amax((-2, -1)).min().item() > 1e-6


def test_drawing_a_layer_leaves_torchs_global_generator_alone() -> None:
    torch.manual_seed(0)
    state = torch.random.get_rng_state()
    MultiHeadAttention(16, 4, generator=generator())
    SharedSliceAttention(16, 4, generator=generator())
    assert torch.equal(torch.random.get_rng_state(), state)
