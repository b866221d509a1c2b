"""The Transformer (Vaswani et al., Attention Is All You Need, 2017).

    memory = encoder(E_s[source] √d + PE)                     every source position sees all of the source
    states = decoder(E_t[target] √d + PE, memory)             every target position sees its past and the memory
    logits = states E_tᵀ                                      the output shares the target's embedding

Embeddings start with standard deviation d^−½, which √d brings to 1, the size of the position encoding. In training the
decoder reads the whole target, shifted by one (teacher forcing): a position cannot see what it has to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.decoder import Decoder, DecoderBlock, DecoderCache, DecoderTrace
from engine.layers.encoder import Encoder, EncoderBlock, EncoderTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.masks import continued_causal_mask, padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.positional import sinusoidal
from engine.layers.residual import Order, post_norm, pre_norm
from engine.layers.start import embedding


@dataclass(frozen=True)
class TransformerTrace:
    """The `memory` (…, S, width) and the traces of both stacks."""

    memory: Tensor
    encoder: EncoderTrace
    decoder: DecoderTrace


class Transformer(nn.Module):
    """Encoder and decoder of `layers` blocks each; `positions` off removes the encoding, for study."""

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabulary: int,
        width: int,
        heads: int,
        layers: int,
        inner: int,
        *,
        order: Order = post_norm,
        dropout: float = 0.0,
        positions: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.width = width
        self.positions = positions
        self.source_table = embedding(source_vocabulary, width, std=width**-0.5, generator=generator)
        self.target_table = embedding(target_vocabulary, width, std=width**-0.5, generator=generator)
        self.dropout = nn.Dropout(dropout)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(width, heads, generator=generator)

        def feed_forward() -> FeedForward:
            return FeedForward(width, inner, generator=generator)

        def norm() -> LayerNorm:
            return LayerNorm(width)

        def encoder_block() -> EncoderBlock:
            return EncoderBlock(attention(), feed_forward(), norm, order=order, dropout=dropout)

        def decoder_block() -> DecoderBlock:
            return DecoderBlock(attention(), attention(), feed_forward(), norm, order=order, dropout=dropout)

        def final_norm() -> LayerNorm | None:
            return norm() if order is pre_norm else None

        self.encoder = Encoder((encoder_block() for _ in range(layers)), final_norm())
        self.decoder = Decoder((decoder_block() for _ in range(layers)), final_norm())

    def forward(
        self, source: Tensor, target: Tensor, source_kept: Tensor | None = None
    ) -> tuple[Tensor, TransformerTrace]:
        """Return the logits (…, T, V) of what follows each target token, and the trace.

        `source` (…, S) and `target` (…, T) are token numbers. `source_kept` (…, S) is True for real tokens; padding at
        the end of the target needs no mask, since no real position sees what comes after it.
        """
        memory, encoder = self.encode(source, source_kept)
        logits, decoder = self.decode(target, memory, source_kept)
        return logits, TransformerTrace(memory, encoder, decoder)

    def encode(self, source: Tensor, source_kept: Tensor | None = None) -> tuple[Tensor, EncoderTrace]:
        """Return the memory (…, S, width) and the trace."""
        mask = None if source_kept is None else padding_mask(source_kept)  # (…, 1, 1, S)
        memory, trace = self.encoder(self.embed(self.source_table, source, 0), mask)
        return memory, trace

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_kept: Tensor | None = None,
        cache: Sequence[DecoderCache] | None = None,
    ) -> tuple[Tensor, DecoderTrace]:
        """Return the logits (…, T, V) and the trace; with the `cache` of a call before, the target continues there."""
        past = 0 if cache is None else cache[0].past.key.shape[-2]
        mask = continued_causal_mask(past, target.shape[-1], target.device)  # (T, past + T)
        memory_mask = None if source_kept is None else padding_mask(source_kept)  # (…, 1, 1, S)
        embedded = self.embed(self.target_table, target, past)  # (…, T, width)
        states, trace = self.decoder(embedded, memory, mask, memory_mask, cache=cache)
        return states @ self.target_table.weight.T, trace  # (…, T, V)

    def writer(
        self, source: Tensor, source_kept: Tensor | None = None
    ) -> Callable[[Tensor, Sequence[DecoderCache] | None], tuple[Tensor, Sequence[DecoderCache]]]:
        """Return the step that `decoding.generate` takes to write a target for these sources (…, S)."""
        memory, _ = self.encode(source, source_kept)

        def step(target: Tensor, cache: Sequence[DecoderCache] | None) -> tuple[Tensor, Sequence[DecoderCache]]:
            logits, trace = self.decode(target, memory, source_kept, cache)
            return logits[..., -1, :], trace.cache

        return step

    def embed(self, table: nn.Embedding, tokens: Tensor, offset: int = 0) -> Tensor:
        """Return the vectors (…, n, width) of tokens (…, n) at positions from `offset` on, as the stacks read them."""
        stream = table(tokens) * math.sqrt(self.width)  # (…, n, width)
        if self.positions:
            stream = stream + sinusoidal(tokens.shape[-1], self.width, offset=offset).to(stream.dtype).to(stream.device)
        return self.dropout(stream)  # type: ignore[no-any-return]
