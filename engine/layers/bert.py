"""BERT (Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2019).

    x      = LN(E[ids] + P[0 … n − 1] + S[sentence])    learned positions; sentence 0 or 1
    states = post-norm blocks without a causal mask     every position sees both sides
    pooled = tanh(W states_0 + b)                       one vector for the text, from its first token [CLS]
    logits = LN(gelu(W' states + b')) Eᵀ + c            what stands behind each mask, (…, n, V)

GELU in its exact form, ε = 1e-12. Weights start normal with standard deviation 0.02.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.activations import gelu
from engine.layers.encoder import Encoder, EncoderBlock, EncoderTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.learned import LearnedPositions
from engine.layers.masks import padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.start import draw_normal, embedding, linear

STD = 0.02
EPS = 1e-12


@dataclass(frozen=True)
class BERTTrace:
    """The `embedded` text (…, n, width) and the trace of the blocks."""

    embedded: Tensor
    blocks: EncoderTrace


class BERT(nn.Module):
    """An encoder of texts of at most `length` tokens, which may consist of two sentences."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        heads: int,
        layers: int,
        length: int,
        *,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.token_table = embedding(vocabulary, width, std=STD, generator=generator)
        self.positions = LearnedPositions(length, width, std=STD, generator=generator)
        self.sentence_table = embedding(2, width, std=STD, generator=generator)
        self.norm = LayerNorm(width, eps=EPS)
        self.dropout = nn.Dropout(dropout)

        def block() -> EncoderBlock:
            attention = MultiHeadAttention(width, heads, generator=generator)
            feed_forward = FeedForward(width, 4 * width, activation=gelu, generator=generator)
            return EncoderBlock(attention, feed_forward, lambda: LayerNorm(width, eps=EPS), dropout=dropout)

        self.blocks = Encoder(block() for _ in range(layers))
        draw_normal(self.blocks, STD, generator)

    def forward(
        self, tokens: Tensor, sentence: Tensor | None = None, kept: Tensor | None = None
    ) -> tuple[Tensor, BERTTrace]:
        """Return the states (…, n, width) of the tokens (…, n), and the trace.

        `sentence` (…, n) is 0 or 1 and 0 unless given; `kept` (…, n) is True for real tokens, False for padding.
        """
        sentence = torch.zeros_like(tokens) if sentence is None else sentence
        summed = self.token_table(tokens) + self.positions(tokens.shape[-1]) + self.sentence_table(sentence)
        embedded = self.dropout(self.norm(summed)[0])  # (…, n, width)
        states, trace = self.blocks(embedded, None if kept is None else padding_mask(kept))
        return states, BERTTrace(embedded, trace)


class Pooler(nn.Module):
    """Makes one vector of a text, for classification."""

    def __init__(self, width: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.dense = linear(width, width, generator=generator)
        draw_normal(self, STD, generator)

    def forward(self, states: Tensor) -> Tensor:
        """Return tanh(W states_0 + b), (…, width), of the states (…, n, width)."""
        return torch.tanh(self.dense(states[..., 0, :]))


class MaskedWordHead(nn.Module):
    """Says which word stands behind each position; shares the embedding of its BERT."""

    def __init__(self, bert: BERT, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.token_table = bert.token_table
        vocabulary, width = self.token_table.weight.shape
        self.dense = linear(width, width, generator=generator)
        self.norm = LayerNorm(width, eps=EPS)
        self.word_bias = nn.Parameter(torch.zeros(vocabulary))
        draw_normal(self.dense, STD, generator)

    def forward(self, states: Tensor) -> Tensor:
        """Return the logits (…, n, V) of the states (…, n, width)."""
        normalized, _ = self.norm(gelu(self.dense(states)))
        return normalized @ self.token_table.weight.T + self.word_bias  # type: ignore[no-any-return]


def bert_base() -> nn.ModuleDict:
    """Return the published BERT-base, encoder and pooler: 109,482,240 weights."""
    encoder = BERT(vocabulary=30_522, width=768, heads=12, layers=12, length=512)
    return nn.ModuleDict({"bert": encoder, "pooler": Pooler(768)})
