"""Encoder and decoder blocks and stacks against torch.nn's, in both orders, with masks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.layers.activations import gelu, relu
from engine.layers.attention import causal_mask
from engine.layers.decoder import Decoder, DecoderBlock
from engine.layers.encoder import Encoder, EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.masks import padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.residual import Order, no_norm, no_residual, post_norm, pre_norm
from tests.engine.agreement import agreement, normal, seeded
from tests.engine.twins import copy_attention, copy_decoder_block, copy_encoder_block, copy_norm, scramble

float64 = torch.float64
ORDERS = {"post": post_norm, "pre": pre_norm}
size = st.tuples(*(st.integers(1, 5) for _ in range(5)), st.integers(1, 3))  # batch, n, m, heads, d_k, layers
seeds = st.integers(0, 9999)


def encoder_block(
    width: int, heads: int, inner: int, order: Order, activation: Callable[[Tensor], Tensor] = relu, dropout: float = 0
) -> EncoderBlock:
    attention, feed_forward = MultiHeadAttention(width, heads), FeedForward(width, inner, activation=activation)
    return EncoderBlock(attention, feed_forward, lambda: LayerNorm(width), order=order, dropout=dropout).double()


def decoder_block(width: int, heads: int, inner: int, order: Order) -> DecoderBlock:
    look_back, look_across = MultiHeadAttention(width, heads), MultiHeadAttention(width, heads)
    feed_forward = FeedForward(width, inner)
    return DecoderBlock(look_back, look_across, feed_forward, lambda: LayerNorm(width), order=order).double()


def some_kept(batch: int, length: int, generator: torch.Generator) -> Tensor:
    """Return which tokens are real, the first of each sentence among them."""
    kept = torch.rand(batch, length, generator=generator) < 0.7
    kept[:, 0] = True
    return kept


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_stack_equals_torch(order: str, activation: str) -> None:
    with agreement(f"torch.nn.TransformerEncoder, {order}, {activation}") as agree:

        @settings(max_examples=40)
        @given(size, seeds)
        def check(size: tuple[int, int, int, int, int, int], seed: int) -> None:
            batch, n, inner, heads, d_k, layers = size
            width, generator = heads * d_k, seeded(seed)
            layer = nn.TransformerEncoderLayer(
                width, heads, inner, 0.0, activation, batch_first=True, norm_first=order == "pre", dtype=float64
            )
            final = nn.LayerNorm(width, dtype=float64) if order == "pre" else None
            theirs = nn.TransformerEncoder(layer, layers, final, enable_nested_tensor=False)
            scramble(theirs, generator)
            function = {"relu": relu, "gelu": gelu}[activation]
            blocks = [encoder_block(width, heads, inner, ORDERS[order], function) for _ in range(layers)]
            ours = Encoder(blocks, LayerNorm(width).double() if final else None)
            for block, twin in zip(blocks, theirs.layers, strict=True):
                assert isinstance(twin, nn.TransformerEncoderLayer)
                copy_encoder_block(block, twin)
            if final is not None:
                assert ours.final_norm is not None
                copy_norm(ours.final_norm, theirs.norm)  # type: ignore[arg-type]
            inputs, kept = normal(generator, batch, n, width), some_kept(batch, n, generator)
            causal = causal_mask(n)
            output, _ = ours(inputs, padding_mask(kept) & causal)
            agree(output, theirs(inputs, mask=~causal, src_key_padding_mask=~kept))
            agree(ours(inputs)[0], theirs(inputs))

        check()


@pytest.mark.parametrize("order", ORDERS)
def test_decoder_stack_equals_torch(order: str) -> None:
    with agreement(f"torch.nn.TransformerDecoder, {order}") as agree:

        @settings(max_examples=40)
        @given(size, seeds)
        def check(size: tuple[int, int, int, int, int, int], seed: int) -> None:
            batch, n, m, heads, d_k, layers = size
            width, generator = heads * d_k, seeded(seed)
            layer = nn.TransformerDecoderLayer(
                width, heads, 7, 0.0, batch_first=True, norm_first=order == "pre", dtype=float64
            )
            final = nn.LayerNorm(width, dtype=float64) if order == "pre" else None
            theirs = nn.TransformerDecoder(layer, layers, final)
            scramble(theirs, generator)
            blocks = [decoder_block(width, heads, 7, ORDERS[order]) for _ in range(layers)]
            ours = Decoder(blocks, LayerNorm(width).double() if final else None)
            for block, twin in zip(blocks, theirs.layers, strict=True):
                assert isinstance(twin, nn.TransformerDecoderLayer)
                copy_decoder_block(block, twin)
            if final is not None:
                assert ours.final_norm is not None
                copy_norm(ours.final_norm, theirs.norm)  # type: ignore[arg-type]
            inputs, memory = normal(generator, batch, n, width), normal(generator, batch, m, width)
            kept, causal = some_kept(batch, m, generator), causal_mask(n)
            output, trace = ours(inputs, memory, causal, padding_mask(kept))
            agree(output, theirs(inputs, memory, tgt_mask=~causal, memory_key_padding_mask=~kept))
            cross = trace.blocks[0].cross_attention.weights
            assert cross.shape == (batch, heads, n, m)
            assert (cross.masked_select(~padding_mask(kept).expand_as(cross)) == 0).all()

        check()


def test_cross_attention_equals_torch() -> None:
    with agreement("torch.nn.MultiheadAttention, query ≠ key") as agree:

        @given(size, seeds)
        def check(size: tuple[int, int, int, int, int, int], seed: int) -> None:
            batch, n, m, heads, d_k, _ = size
            width, generator = heads * d_k, seeded(seed)
            theirs = nn.MultiheadAttention(width, heads, batch_first=True, dtype=float64)
            scramble(theirs, generator)
            ours = MultiHeadAttention(width, heads, dtype=float64)
            copy_attention(ours, theirs)
            inputs, memory = normal(generator, batch, n, width), normal(generator, batch, m, width)
            expected, weights = theirs(inputs, memory, memory, average_attn_weights=False)
            output, trace = ours(inputs, memory=memory)
            agree(output, expected)
            agree(trace.weights, weights)
            agree(ours(inputs, memory=trace.key_values)[0], expected)

        check()


def test_a_stack_of_padding_gives_zero_weights_and_finite_states() -> None:
    blocks = [encoder_block(8, 2, 16, post_norm) for _ in range(2)]
    inputs = normal(seeded(0), 2, 5, 8).requires_grad_()
    kept = torch.tensor([[True] * 5, [False] * 5])
    states, trace = Encoder(blocks)(inputs, padding_mask(kept))
    for block in trace.blocks:
        assert (block.attention.weights[1] == 0).all()
    states.sum().backward()
    assert inputs.grad is not None
    assert inputs.grad.isfinite().all()
    assert states.isfinite().all()


def test_masked_keys_have_weight_zero_in_every_layer() -> None:
    blocks = [encoder_block(8, 2, 16, pre_norm) for _ in range(3)]
    kept = torch.tensor([[True, True, False, True, False]])
    _, trace = Encoder(blocks)(normal(seeded(0), 1, 5, 8), padding_mask(kept))
    for block in trace.blocks:
        assert (block.attention.weights[..., [2, 4]] == 0).all()
        torch.testing.assert_close(block.attention.weights.sum(-1), torch.ones(1, 2, 5, dtype=float64))


def test_the_cache_of_an_encoder_stack_continues_it_exactly() -> None:
    stack = Encoder([encoder_block(8, 2, 16, pre_norm) for _ in range(2)], LayerNorm(8).double())
    inputs = normal(seeded(0), 3, 6, 8)
    whole, _ = stack(inputs, causal_mask(6))
    first, trace = stack(inputs[:, :4], causal_mask(4))
    rest, _ = stack(inputs[:, 4:], causal_mask(6)[4:], cache=trace.cache)
    torch.testing.assert_close(torch.cat((first, rest), 1), whole, rtol=0, atol=1e-12)


def half(x: Tensor) -> tuple[Tensor, str]:
    return x / 2, "trace"


def test_the_four_orders_are_the_four_formulas() -> None:
    x, norm = normal(seeded(0), 3, 8), LayerNorm(8).double()

    def ln(y: Tensor) -> Tensor:
        output: Tensor = norm(y)[0]
        return output

    expected = {post_norm: ln(x + x / 2), pre_norm: x + ln(x) / 2, no_residual: ln(x / 2), no_norm: x + x / 2}
    for order, result in expected.items():
        output, trace = order(x, half, norm)
        assert torch.equal(output, result)
        assert trace == "trace"


def test_dropout_acts_in_training_only() -> None:
    block, inputs = encoder_block(8, 2, 16, post_norm, dropout=0.5), normal(seeded(0), 5, 8)
    block.train()
    assert not torch.equal(block(inputs)[0], block(inputs)[0])
    block.eval()
    assert torch.equal(block(inputs)[0], block(inputs)[0])
    without = encoder_block(8, 2, 16, post_norm)
    without.load_state_dict(block.state_dict())
    assert torch.equal(without(inputs)[0], block(inputs)[0])


def test_a_memory_of_another_width_is_named() -> None:
    block = decoder_block(8, 2, 16, post_norm)
    with pytest.raises(ValueError, match=r"the input has shape \(3, 6\); this attention reads \(…, n, 8\)"):
        block(torch.zeros(4, 8, dtype=float64), torch.zeros(3, 6, dtype=float64))


def test_a_mask_of_kept_tokens_must_be_boolean() -> None:
    with pytest.raises(TypeError, match=r"kept has dtype torch\.float32"):
        padding_mask(torch.ones(2, 3))
