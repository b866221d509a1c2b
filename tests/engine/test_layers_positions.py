"""Learned, rotary, ALiBi and bucketed positions: what each promises about distance."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.layers.alibi import alibi
from engine.layers.attention import causal_mask
from engine.layers.learned import LearnedPositions
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.relative_bias import RelativeBias, bucket
from engine.layers.rotary import rotary
from tests.engine.agreement import normal, seeded

float64 = torch.float64
widths = st.integers(1, 6).map(lambda half: 2 * half)
places = st.integers(0, 60)


@given(widths, places, places, places)
def test_rotary_scores_depend_on_the_distance_only(width: int, at: int, other: int, shift: int) -> None:
    query, key = normal(seeded(0), 1, width), normal(seeded(1), 1, width)
    here = rotary(query, offset=at) @ rotary(key, offset=other).T
    moved = rotary(query, offset=at + shift) @ rotary(key, offset=other + shift).T
    torch.testing.assert_close(moved, here, rtol=0, atol=1e-10)


@given(widths, places)
def test_rotary_turns_pairs_as_complex_numbers(width: int, offset: int) -> None:
    heads = normal(seeded(0), 2, 3, 5, width)
    frequencies = 10_000.0 ** (-torch.arange(0, width, 2, dtype=float64) / width)
    angles = torch.arange(offset, offset + 5, dtype=float64)[:, None] * frequencies
    pairs = torch.view_as_complex(heads.reshape(2, 3, 5, width // 2, 2))
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    torch.testing.assert_close(rotary(heads, offset=offset), torch.view_as_real(turned).flatten(-2), rtol=0, atol=1e-12)


def test_rotary_keeps_lengths_and_leaves_position_zero_alone() -> None:
    heads = normal(seeded(0), 4, 7, 8)
    turned = rotary(heads)
    torch.testing.assert_close(turned.norm(dim=-1), heads.norm(dim=-1), rtol=1e-12, atol=0)
    assert torch.equal(turned[:, 0], heads[:, 0])
    assert rotary(heads.float()).dtype is torch.float32


def test_rotary_refuses_an_odd_head() -> None:
    with pytest.raises(ValueError, match="rotary positions turn pairs of features, but a head is 5 wide"):
        rotary(torch.zeros(3, 5))


def test_attention_with_rotary_looks_the_same_wherever_the_text_starts() -> None:
    layer, inputs = MultiHeadAttention(8, 2, generator=seeded(0), dtype=float64), normal(seeded(1), 5, 8)
    output, _ = layer(inputs, rotate=rotary)
    moved, _ = layer(inputs, rotate=lambda heads: rotary(heads, offset=37))
    torch.testing.assert_close(moved, output, rtol=0, atol=1e-12)
    assert (output - layer(inputs)[0]).abs().max() > 1e-3


def test_rotary_with_a_cache_equals_rotary_on_the_whole() -> None:
    layer, inputs = MultiHeadAttention(8, 2, generator=seeded(0), dtype=float64), normal(seeded(1), 6, 8)
    whole, _ = layer(inputs, causal_mask(6), rotate=rotary)
    _, first = layer(inputs[:5], causal_mask(5), rotate=rotary)
    last, _ = layer(inputs[5:], past=first.key_values, rotate=lambda heads: rotary(heads, offset=5))
    torch.testing.assert_close(last, whole[5:], rtol=0, atol=1e-12)


def test_alibi_slopes_are_those_of_the_paper() -> None:
    bias = alibi(8, 3, 3)
    assert bias[:, 2, 1].tolist() == [-(2.0**-k) for k in range(1, 9)]
    assert torch.equal(bias[:, 2, 0], 2 * bias[:, 2, 1])
    assert torch.equal(bias, bias.transpose(1, 2))
    assert torch.equal(alibi(8, 1, 3), bias[:, 2:])


def test_attention_with_a_steep_bias_sees_near_keys_only() -> None:
    layer, inputs = MultiHeadAttention(8, 2, generator=seeded(0), dtype=float64), normal(seeded(1), 6, 8)
    _, trace = layer(inputs, bias=1e6 * alibi(2, 6, 6))
    torch.testing.assert_close(trace.weights, torch.eye(6, dtype=float64).expand(2, 6, 6))
    _, plain = layer(inputs)
    torch.testing.assert_close(layer(inputs, bias=alibi(2, 6, 6))[1].scores, plain.scores + alibi(2, 6, 6))


def bucket_of(offset: int, buckets: int, furthest: int, both_sides: bool) -> int:
    """The rule of T5's paper, for one number."""
    first = 0
    if both_sides:
        buckets //= 2
        first = buckets if offset > 0 else 0
        distance = abs(offset)
    else:
        distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    share = math.log(distance / exact) / math.log(furthest / exact)
    return first + min(exact + int(share * (buckets - exact) + 1e-6), buckets - 1)


@pytest.mark.parametrize("both_sides", [True, False])
def test_buckets_are_those_of_t5(both_sides: bool) -> None:
    offsets = torch.arange(-300, 301)
    found = bucket(offsets, 32, 128, both_sides)
    assert found.tolist() == [bucket_of(offset, 32, 128, both_sides) for offset in offsets.tolist()]
    assert sorted(set(found.tolist())) == [b for b in range(32) if not both_sides or b != 16]


def test_near_offsets_have_a_bucket_each_and_far_ones_share_the_last() -> None:
    assert bucket(torch.tensor([0, -1, -7, 1, 7]), 32, 128, True).tolist() == [0, 1, 7, 17, 23]
    assert bucket(torch.tensor([-127, -128, -5000, 128, 5000]), 32, 128, True).tolist() == [15, 15, 15, 31, 31]
    assert bucket(torch.tensor([-15, -128, 3]), 32, 128, False).tolist() == [15, 31, 0]


def test_relative_bias_is_one_number_per_head_and_bucket() -> None:
    layer = RelativeBias(4, both_sides=True, generator=seeded(0))
    bias = layer(5, 5)
    assert bias.shape == (4, 5, 5)
    for head in range(4):
        for offset in range(-4, 5):
            same = bias[head].diagonal(offset)
            assert torch.equal(same, same[:1].expand_as(same))
    assert torch.equal(layer(2, 5), bias[:, 3:])


def test_learned_positions_refuse_what_lies_beyond_the_table() -> None:
    positions = LearnedPositions(8, 4, generator=seeded(0))
    assert torch.equal(positions(3, offset=5), positions(8)[5:])
    with pytest.raises(ValueError, match="the text has 9 tokens, but only 8 positions have been learned"):
        positions(2, offset=7)
