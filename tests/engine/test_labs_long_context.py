"""The lab `long-context` and its layers: reach by gradients, recall of hashing, and what is exact."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.contract import labs as declared
from engine.contract.labs.long_context import USES
from engine.contract.parameters import InvalidParameters, build
from engine.labs import run
from engine.labs.base import Context
from engine.labs.long_context.hashing import clustered, recall_and_pairs
from engine.labs.long_context.reach import memory_rule
from engine.layers import reversible
from engine.layers.attention import attend, causal_mask
from engine.layers.hashing import buckets, same_bucket
from engine.layers.masks import local_causal_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.online_softmax import attend_in_blocks
from engine.layers.segment_memory import read_in_segments
from tests.engine.reports import failed, heatmap, number, numbers


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(("layers", "window", "reach"), [(2, 4, 7), (3, 4, 10), (3, 8, 22), (4, 8, 29), (1, 2, 2)])
def test_a_window_reaches_w_minus_1_further_with_every_layer(layers: int, window: int, reach: int) -> None:
    report = run("long-context", layers=layers, window=window)
    assert report.values["reach"] == reach == layers * (window - 1) + 1
    picture = heatmap(report, "reach-picture").values.rows()
    assert picture[63] == [0.0] * (64 - reach) + [1.0] * reach
    assert picture[0] == [1.0] + [0.0] * 63


@pytest.mark.parametrize(
    ("layers", "segment", "memory", "reach"),
    [
        (1, 4, 4, 8),
        (2, 4, 4, 12),
        (3, 4, 4, 16),
        (3, 4, 1, 13),
        (3, 4, 2, 14),
        (3, 4, 3, 15),
        (3, 4, 6, 26),
        (3, 4, 8, 28),
        (3, 2, 5, 19),
    ],
)
def test_memory_reaches_as_far_as_the_course_says(layers: int, segment: int, memory: int, reach: int) -> None:
    report = run("long-context", method="transformer-xl", layers=layers, segment=segment, memory=memory)
    assert report.values["reach"] == reach


def test_the_rule_of_memory_is_l_m_plus_s_for_multiples_and_l_s_plus_m_for_less() -> None:
    for layers in range(1, 5):
        for segment in range(1, 9):
            for memory in range(1, 9):
                if memory % segment == 0:
                    assert memory_rule(layers, memory, segment) == layers * memory + segment
                elif memory <= segment:
                    assert memory_rule(layers, memory, segment) == layers * segment + memory


@pytest.mark.parametrize("segment", range(1, 9))
@pytest.mark.parametrize(("layers", "memory"), [(1, 1), (2, 3), (4, 5), (4, 8)])
def test_the_measured_reach_of_memory_equals_the_rule(layers: int, segment: int, memory: int) -> None:
    report = run("long-context", method="transformer-xl", layers=layers, segment=segment, memory=memory)
    assert failed(report) == []


def test_one_segment_with_memory_is_the_end_of_full_causal_attention() -> None:
    layer = MultiHeadAttention(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    inputs = draw(12, 8)
    read = read_in_segments([layer], inputs, 4, 12)
    full = inputs + layer(inputs, causal_mask(12))[0]
    assert torch.allclose(read, full, atol=1e-12)


def test_no_gradient_flows_into_the_memory_unless_it_is_asked_for() -> None:
    layer = MultiHeadAttention(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    inputs = draw(8, 8).requires_grad_()
    read_in_segments([layer], inputs, 4, 4)[4:].sum().backward()  # type: ignore[no-untyped-call]
    assert inputs.grad is not None
    assert inputs.grad[:4].abs().max() == 0 < inputs.grad[4:].abs().min()


def test_a_window_mask_sees_itself_and_what_is_just_before() -> None:
    mask = local_causal_mask(5, 2)
    assert mask.int().tolist() == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]
    assert torch.equal(local_causal_mask(6, 6), causal_mask(6))
    assert local_causal_mask(9, 4).sum(1).tolist() == [min(i + 1, 4) for i in range(9)]


@settings(max_examples=60)
@given(st.integers(1, 70), st.integers(1, 40), st.integers(1, 40), st.sampled_from([1.0, 1000.0]), st.integers(0, 99))
def test_attention_in_blocks_is_attention_whatever_the_block_and_the_mask(
    block: int, n: int, m: int, size: float, seed: int
) -> None:
    query, key, value = size * draw(2, n, 8, seed=seed), draw(2, m, 8, seed=seed + 1), draw(2, m, 5, seed=seed + 2)
    mask = draw(n, m, seed=seed + 3) > 0  # some rows see nothing, some blocks are fully masked
    wanted, _ = attend(query, key, value, mask)
    assert torch.allclose(attend_in_blocks(query, key, value, block, mask), wanted, rtol=0, atol=1e-11)
    unmasked = F.scaled_dot_product_attention(query, key, value)
    assert torch.allclose(attend_in_blocks(query, key, value, block), unmasked, rtol=0, atol=1e-11)


def test_a_block_of_no_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="a block holds 0 keys"):
        attend_in_blocks(draw(2, 4), draw(2, 4), draw(2, 4), 0)


@pytest.mark.parametrize("block", [1, 5, 16, 63, 64])
def test_streaming_keeps_only_a_block_of_scores_and_no_error(block: int) -> None:
    report = run("long-context", method="streaming", block=block)
    assert failed(report) == []
    assert number(report, "largest_error") < 3e-15
    assert number(report, "error_large") < 3e-13
    assert report.values["scores_held"] == 64 * block


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_reversible_layers_give_their_inputs_back(layers: int) -> None:
    for seed in range(5):
        report = run("long-context", method="reversible", layers=layers, seed=seed)
        assert failed(report) == []
        assert number(report, "error") < 1e-14
    assert report.values["stored"] == (layers + 1) * int(number(report, "kept"))


def test_reversing_needs_no_inverse_of_the_halves() -> None:
    first, second = draw(3, 4), draw(3, 4, seed=1)
    outputs = reversible.forward(first, second, torch.relu, torch.square)
    back = reversible.backward(*outputs, torch.relu, torch.square)
    assert torch.allclose(back[0], first, atol=1e-12)
    assert torch.allclose(back[1], second, atol=1e-12)


@pytest.mark.parametrize(
    ("count", "recalls", "shares"),
    [(16, (0.48, 0.71, 0.90, 0.99), (0.08, 0.15, 0.26, 0.42)), (8, (0.55, 0.78, 0.95, 1.00), None)],
)
def test_hashing_finds_the_neighbours_of_the_course_on_the_mean_of_thirty_seeds(
    count: int, recalls: tuple[float, ...], shares: tuple[float, ...] | None
) -> None:
    found, computed = [], []
    for seed in range(30):
        report = run("long-context", method="lsh", buckets=count, rounds=8, seed=seed)
        found.append([numbers(report, "recall_by_round")[index] for index in (0, 1, 3, 7)])
        computed.append([numbers(report, "pairs_by_round")[index] for index in (0, 1, 3, 7)])
        assert failed(report) == []
    # Two means of 30 seeds each, of recalls whose standard deviation is .047 or less: three standard errors.
    assert torch.tensor(found).mean(0).tolist() == pytest.approx(recalls, abs=3 * 0.047 * sqrt(2 / 30))
    if shares:
        assert torch.tensor(computed).mean(0).tolist() == pytest.approx(shares, abs=0.01)


def test_rounds_are_nested() -> None:
    four = run("long-context", method="lsh", rounds=4)
    eight = run("long-context", method="lsh", rounds=8)
    assert numbers(eight, "recall_by_round")[:4] == numbers(four, "recall_by_round")
    assert number(eight, "error") < number(four, "error")


def test_buckets_are_the_largest_of_projections_and_their_negatives() -> None:
    rotation = torch.eye(2, dtype=torch.float64)
    vectors = torch.tensor([[2.0, 1.0], [1.0, 2.0], [-2.0, 1.0], [1.0, -2.0]], dtype=torch.float64)
    assert buckets(vectors, rotation).tolist() == [0, 1, 2, 3]
    assert same_bucket(vectors, rotation[None])[0].equal(torch.eye(4, dtype=torch.bool))


def test_recall_counts_the_seven_nearest_and_not_the_vector_itself() -> None:
    vectors = clustered(Context())
    own_only = torch.eye(256, dtype=torch.bool)[None]
    assert recall_and_pairs(vectors, own_only)[0].tolist() == [0.0]
    assert recall_and_pairs(vectors, torch.ones(1, 256, 256, dtype=torch.bool))[0].tolist() == [1.0]


def test_pairs_of_4096_tokens() -> None:
    values = run("long-context").values
    assert (values["pairs_full"], values["pairs_buckets"]) == (16_777_216, 262_144)
    assert values["pairs_window"] == 524_288
    assert 0.98 * 524_288 < int(local_causal_mask(4096, 128).sum()) < 524_288


@pytest.mark.parametrize("method", USES)
def test_every_method_holds_at_both_ends_of_its_parameters(method: str) -> None:
    lab = declared.declaration("long-context")
    ends: tuple[dict[str, Any], ...] = (
        {"layers": 1, "window": 2, "memory": 1, "segment": 1, "buckets": 4, "rounds": 1, "block": 1},
        {"layers": 4, "window": 8, "memory": 8, "segment": 8, "buckets": 32, "rounds": 8, "block": 64},
        {"layers": 4, "memory": 8, "segment": 1, "buckets": 4, "rounds": 8},
    )
    for params in ends:
        report = run("long-context", method=method, **params)
        assert all(invariant.holds for invariant in report.invariants)
        expected = lab.estimate(build(lab.parameters, {"method": method, **params}, "en")).seconds
        assert report.seconds < 4 * expected + 1


def test_only_an_even_number_of_buckets_is_taken() -> None:
    with pytest.raises(InvalidParameters, match="buckets is 7, but it goes from 4 in steps of 2"):
        run("long-context", method="lsh", buckets=7)
