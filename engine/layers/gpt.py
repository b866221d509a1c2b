"""A GPT (Radford et al., Language Models are Unsupervised Multitask Learners (GPT-2), 2019).

    x      = E[ids] + P[0 … n − 1]                      learned positions
    x      = pre-norm blocks with a causal mask         they are encoder blocks: there is no memory to attend to
    logits = LN(x) Eᵀ                                   the output shares the embedding

GELU in its tanh form. Weights start normal with standard deviation 0.02; those that write into the stream x are divided
by √(2 · layers), since 2 · layers of them add up there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.activations import gelu_tanh
from engine.layers.encoder import Encoder, EncoderBlock, EncoderTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.learned import LearnedPositions
from engine.layers.masks import continued_causal_mask
from engine.layers.multi_head import KeyValues, MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.residual import pre_norm
from engine.layers.start import draw_normal, embedding

STD = 0.02


@dataclass(frozen=True)
class GPTTrace:
    """The `embedded` text and the final `states`, each (…, n, width), and the trace of the blocks."""

    embedded: Tensor
    blocks: EncoderTrace
    states: Tensor


class GPT(nn.Module):
    """A causal language model over `vocabulary` tokens that reads at most `length` of them."""

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
        self.dropout = nn.Dropout(dropout)

        def block() -> EncoderBlock:
            attention = MultiHeadAttention(width, heads, generator=generator)
            feed_forward = FeedForward(width, 4 * width, activation=gelu_tanh, generator=generator)
            return EncoderBlock(attention, feed_forward, lambda: LayerNorm(width), order=pre_norm, dropout=dropout)

        self.blocks = Encoder((block() for _ in range(layers)), LayerNorm(width))
        draw_normal(self.blocks, STD, generator)
        into_stream = ("attention.output_weight", "feed_forward.contract.weight")
        with torch.no_grad():
            for name, parameter in self.blocks.named_parameters():
                if name.endswith(into_stream):
                    parameter.div_(math.sqrt(2 * layers))

    def forward(self, tokens: Tensor, cache: Sequence[KeyValues] | None = None) -> tuple[Tensor, GPTTrace]:
        """Return the logits (…, n, V) of what follows each of the tokens (…, n), and the trace.

        With the `cache` of a call before (`trace.blocks.cache`), the text goes on from there.
        """
        past = 0 if cache is None else cache[0].key.shape[-2]
        new = tokens.shape[-1]
        embedded = self.dropout(self.token_table(tokens) + self.positions(new, past))  # (…, n, width)
        states, trace = self.blocks(embedded, continued_causal_mask(past, new, tokens.device), cache=cache)
        return states @ self.token_table.weight.T, GPTTrace(embedded, trace, states)  # (…, n, V)

    def step(self, tokens: Tensor, cache: Sequence[KeyValues] | None) -> tuple[Tensor, Sequence[KeyValues]]:
        """Return the logits (…, V) after the last token and the new cache: the step that `decoding.generate` takes."""
        logits, trace = self(tokens, cache)
        return logits[..., -1, :], trace.blocks.cache


def gpt2() -> GPT:
    """Return the smallest published GPT-2: 124,439,808 weights."""
    return GPT(vocabulary=50_257, width=768, heads=12, layers=12, length=1024)
