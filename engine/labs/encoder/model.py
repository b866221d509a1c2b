"""The encoder the lab looks into: token vectors and positions, dropout, blocks; and a classifier on top of it.

x      = dropout(E[ids] + P)
states = encoder(x)                                       post-norm or pre-norm
logits = W · mean of the states of real tokens + b        the classifier
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.encoder import Encoder, EncoderBlock, EncoderTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.learned import LearnedPositions
from engine.layers.masks import padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.positional import sinusoidal
from engine.layers.residual import post_norm, pre_norm
from engine.layers.start import linear


@dataclass(frozen=True)
class Shape:
    """The sizes of an encoder; `positions` is "learned", "sinusoid" or "none", `norm` "post" or "pre"."""

    width: int
    heads: int
    layers: int
    expansion: int
    positions: str
    norm: str
    dropout: float = 0.0

    @property
    def block_weights(self) -> int:
        """The number of weights of one block: attention 4d² + 4d, feed-forward 2ed² + (e + 1)d, norms 4d."""
        d, e = self.width, self.expansion
        return 4 * d * d + 4 * d + 2 * e * d * d + (e + 1) * d + 4 * d


class Reader(nn.Module):
    """Reads token numbers and returns the states of an encoder; `std` is that of learned positions at the start."""

    def __init__(
        self, table: nn.Embedding, shape: Shape, length: int, generator: torch.Generator, *, std: float
    ) -> None:
        super().__init__()
        self.shape = shape
        self.table = table
        self.learned = (
            LearnedPositions(length, shape.width, std=std, generator=generator)
            if shape.positions == "learned"
            else None
        )
        self.dropout = nn.Dropout(shape.dropout)

        def block() -> EncoderBlock:
            attention = MultiHeadAttention(shape.width, shape.heads, generator=generator)
            feed_forward = FeedForward(shape.width, shape.expansion * shape.width, generator=generator)
            order = pre_norm if shape.norm == "pre" else post_norm
            return EncoderBlock(
                attention, feed_forward, lambda: LayerNorm(shape.width), order=order, dropout=shape.dropout
            )

        final_norm = LayerNorm(shape.width) if shape.norm == "pre" else None
        self.encoder = Encoder((block() for _ in range(shape.layers)), final_norm)

    @property
    def blocks(self) -> list[EncoderBlock]:
        """The blocks, first to last."""
        return [block for block in self.encoder.blocks if isinstance(block, EncoderBlock)]

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the vectors (…, n, width) of tokens (…, n), positions added."""
        vectors: Tensor = self.table(tokens)
        length = tokens.shape[-1]
        if self.learned is not None:
            vectors = vectors + self.learned(length)
        elif self.shape.positions == "sinusoid":
            vectors = vectors + sinusoidal(length, self.shape.width).to(vectors)
        return vectors

    def forward(self, tokens: Tensor, kept: Tensor | None = None) -> tuple[Tensor, EncoderTrace]:
        """Return the states (…, n, width) of tokens (…, n) and the trace; `kept` (…, n) is True for real tokens."""
        mask = None if kept is None else padding_mask(kept)  # (…, 1, 1, n)
        states, trace = self.encoder(self.dropout(self.embed(tokens)), mask)
        return states, trace


class Classifier(nn.Module):
    """Says of a review whether it is positive."""

    def __init__(self, reader: Reader, generator: torch.Generator) -> None:
        super().__init__()
        self.reader = reader
        self.output = linear(reader.shape.width, 2, generator=generator)

    def forward(self, tokens: Tensor, kept: Tensor) -> tuple[Tensor, EncoderTrace]:
        """Return the logits (batch, 2) of reviews (batch, n), real tokens True in `kept` (batch, n), and the trace."""
        states, trace = self.reader(tokens, kept)  # (batch, n, width)
        real = kept[..., None].to(states.dtype)  # (batch, n, 1)
        pooled = (states * real).sum(-2) / real.sum(-2)  # (batch, width)
        return self.output(pooled), trace
