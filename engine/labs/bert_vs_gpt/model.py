"""One body for both families, and a classifier on top of it.

    states = pre-norm blocks of E[ids] + P           the BERT's mask: every real word; the GPT's: also none to the right
    logits = W states + b                            which word stands here (BERT), which one comes next (GPT)

Everything else, to the last weight, is the same.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from engine.labs.encoder.model import Reader, Shape
from engine.layers.masks import continued_causal_mask, padding_mask
from engine.layers.start import embedding, linear
from engine.tasks.vocabulary import PAD

SHAPE = Shape(width=32, heads=4, layers=2, expansion=2, positions="learned", norm="pre")
STD = 0.1
LENGTH = 24  # the longest text has 16 tokens; a prompt with what is written after it may have more


class Body(nn.Module):
    """Reads texts; `causal` says whether a word sees only what stands before it."""

    def __init__(self, vocabulary: int, causal: bool, generator: torch.Generator) -> None:
        super().__init__()
        table = embedding(vocabulary, SHAPE.width, std=STD, generator=generator)
        self.reader = Reader(table, SHAPE, LENGTH, generator, std=STD)
        self.causal = causal

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the states (batch, n, width) of tokens (batch, n), padding at the end."""
        mask = padding_mask(tokens != PAD)  # (batch, 1, 1, n)
        if self.causal:
            mask = mask & continued_causal_mask(0, tokens.shape[-1])  # (batch, 1, n, n)
        states: Tensor = self.reader.encoder(self.reader.embed(tokens), mask)[0]
        return states


class LanguageModel(nn.Module):
    """A body that names words."""

    def __init__(self, vocabulary: int, causal: bool, generator: torch.Generator) -> None:
        super().__init__()
        self.body = Body(vocabulary, causal, generator)
        self.output = linear(SHAPE.width, vocabulary, generator=generator)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (batch, n, V) of tokens (batch, n)."""
        logits: Tensor = self.output(self.body(tokens))
        return logits


class Judge(nn.Module):
    """A copy of a body that says whether a review is positive, from the mean of its states or from the last one."""

    def __init__(self, body: Body, pooling: str, generator: torch.Generator) -> None:
        super().__init__()
        self.body = copy.deepcopy(body)
        self.pooling = pooling
        self.output = linear(SHAPE.width, 2, generator=generator)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (batch, 2) of reviews (batch, n)."""
        states = self.body(tokens)  # (batch, n, width)
        real = (tokens != PAD)[..., None].to(states.dtype)  # (batch, n, 1)
        if self.pooling == "mean":
            pooled = (states * real).sum(-2) / real.sum(-2)  # (batch, width)
        else:
            pooled = states[torch.arange(len(tokens)), real.sum(-2).long().squeeze(-1) - 1]
        logits: Tensor = self.output(pooled)
        return logits
