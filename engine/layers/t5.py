"""T5 (Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020).

    memory = pre-norm encoder of E[source]               scores + relative bias on both sides, no 1/√d_k
    states = pre-norm decoder of E[target] and memory    scores + relative bias on the past
    logits = states Eᵀ / √d                              one embedding for source, target and output

RMS norms, ReLU, and no bias anywhere. The missing 1/√d_k is in the start of the queries: W_Q normal with standard
deviation (d · d_k)^−½, W_K and W_V d^−½, every other matrix (its inputs)^−½, the embedding 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.decoder import Decoder, DecoderBlock, DecoderCache, DecoderTrace
from engine.layers.encoder import Encoder, EncoderBlock, EncoderTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.masks import continued_causal_mask, padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import RMSNorm
from engine.layers.relative_bias import RelativeBias
from engine.layers.residual import pre_norm
from engine.layers.start import embedding, fill_normal


@dataclass(frozen=True)
class T5Trace:
    """The `memory` (…, S, width) and the traces of both stacks."""

    memory: Tensor
    encoder: EncoderTrace
    decoder: DecoderTrace


class T5(nn.Module):
    """An encoder–decoder that reads a text and writes a text; heads are d_k wide whatever the width is."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        heads: int,
        d_k: int,
        layers: int,
        inner: int,
        *,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.width = width
        self.table = embedding(vocabulary, width, generator=generator)
        self.encoder_bias = RelativeBias(heads, both_sides=True, generator=generator)
        self.decoder_bias = RelativeBias(heads, both_sides=False, generator=generator)
        self.dropout = nn.Dropout(dropout)

        def attention() -> MultiHeadAttention:
            layer = MultiHeadAttention(width, heads, d_k=d_k, d_v=d_k, bias=False, output_bias=False, scale=1.0)
            return _draw_start(layer, d_k, generator)

        def feed_forward() -> FeedForward:
            layer = FeedForward(width, inner, bias=False)
            for linear in (layer.expand, layer.contract):
                fill_normal(linear.weight.detach(), linear.in_features**-0.5, generator)
            return layer

        def norm() -> RMSNorm:
            return RMSNorm(width)

        def encoder_block() -> EncoderBlock:
            return EncoderBlock(attention(), feed_forward(), norm, order=pre_norm, dropout=dropout)

        def decoder_block() -> DecoderBlock:
            return DecoderBlock(attention(), attention(), feed_forward(), norm, order=pre_norm, dropout=dropout)

        self.encoder = Encoder((encoder_block() for _ in range(layers)), norm())
        self.decoder = Decoder((decoder_block() for _ in range(layers)), norm())

    def forward(self, source: Tensor, target: Tensor, source_kept: Tensor | None = None) -> tuple[Tensor, T5Trace]:
        """Return the logits (…, T, V) of what follows each target token, and the trace; as in Transformer."""
        memory, encoder = self.encode(source, source_kept)
        logits, decoder = self.decode(target, memory, source_kept)
        return logits, T5Trace(memory, encoder, decoder)

    def encode(self, source: Tensor, source_kept: Tensor | None = None) -> tuple[Tensor, EncoderTrace]:
        """Return the memory (…, S, width) and the trace."""
        mask = None if source_kept is None else padding_mask(source_kept)  # (…, 1, 1, S)
        bias = self.encoder_bias(source.shape[-1], source.shape[-1])  # (heads, S, S)
        memory, trace = self.encoder(self.dropout(self.table(source)), mask, bias=bias)
        return self.dropout(memory), trace

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_kept: Tensor | None = None,
        cache: Sequence[DecoderCache] | None = None,
    ) -> tuple[Tensor, DecoderTrace]:
        """Return the logits (…, T, V) and the trace; with the `cache` of a call before, the target continues there."""
        past, new = 0 if cache is None else cache[0].past.key.shape[-2], target.shape[-1]
        mask = continued_causal_mask(past, new, target.device)  # (T, past + T)
        memory_mask = None if source_kept is None else padding_mask(source_kept)  # (…, 1, 1, S)
        bias = self.decoder_bias(new, past + new)  # (heads, T, past + T)
        embedded = self.dropout(self.table(target))  # (…, T, width)
        states, trace = self.decoder(embedded, memory, mask, memory_mask, cache=cache, bias=bias)
        return self.dropout(states) * self.width**-0.5 @ self.table.weight.T, trace  # (…, T, V)

    def writer(
        self, source: Tensor, source_kept: Tensor | None = None
    ) -> Callable[[Tensor, Sequence[DecoderCache] | None], tuple[Tensor, Sequence[DecoderCache]]]:
        """Return the step that `decoding.generate` takes to write a target for these sources (…, S)."""
        memory, _ = self.encode(source, source_kept)

        def step(target: Tensor, cache: Sequence[DecoderCache] | None) -> tuple[Tensor, Sequence[DecoderCache]]:
            logits, trace = self.decode(target, memory, source_kept, cache)
            return logits[..., -1, :], trace.cache

        return step


def _draw_start(layer: MultiHeadAttention, d_k: int, generator: torch.Generator | None) -> MultiHeadAttention:
    """Draw T5's start, in which the queries carry the factor d_k^−½ that the scores lack."""
    width, inner = layer.output_weight.shape
    fill_normal(layer.query_weight.detach(), (width * d_k) ** -0.5, generator)
    fill_normal(layer.key_weight.detach(), width**-0.5, generator)
    fill_normal(layer.value_weight.detach(), width**-0.5, generator)
    fill_normal(layer.output_weight.detach(), inner**-0.5, generator)
    return layer


def t5_small() -> T5:
    """Return the published T5-small: 60,506,624 weights."""
    return T5(vocabulary=32_128, width=512, heads=8, d_k=64, layers=6, inner=2048)
