"""The shape trap: a padding mask (B, T) against (B, 1, 1, T), for three sentences of three, two and one token."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from engine.contract.message import say
from engine.contract.report import Column, Invariant, Scalar, Table
from engine.labs.base import close, largest, more_than
from engine.labs.masks.rows import kept_tokens
from engine.layers.attention import masked_softmax
from engine.layers.masks import padding_mask

BATCH = 3


def weights_on_padding() -> tuple[Tensor, Tensor]:
    """Return the largest weight on padding of each sentence for equal scores, with the right shape and the naive one,
    each (3,)."""
    kept = kept_tokens(BATCH)  # (B, T)
    scores = torch.zeros(BATCH, 1, BATCH, BATCH, dtype=torch.float64)  # (B, heads, T, T)
    on_padding = [
        (masked_softmax(scores, allowed) * ~padding_mask(kept)).amax((1, 2, 3))
        for allowed in (padding_mask(kept), kept)
    ]
    return on_padding[0], on_padding[1]


def table() -> Table:
    """Return both shapes side by side."""
    right, naive = weights_on_padding()
    columns = (
        Column(say("sentence"), "d"),
        Column(say("real tokens"), "d"),
        Column(say("weight on padding, (B, 1, 1, T)"), ".3f"),
        Column(say("weight on padding, (B, T)"), ".3f"),
    )
    rows = zip(range(1, BATCH + 1), range(BATCH, 0, -1), right.tolist(), naive.tolist(), strict=True)
    return Table("batch", say("Three sentences, B = T = 3: the wrong shape raises no error"), columns, tuple(rows))


def values() -> dict[str, Scalar]:
    """Return the largest weight on padding of both shapes."""
    right, naive = weights_on_padding()
    return {"right_on_padding": largest(right), "naive_on_padding": largest(naive)}


def invariants() -> Iterator[Invariant]:
    """Check that one shape hides padding and the other does not."""
    right, naive = weights_on_padding()
    yield close(say("(B, 1, 1, T) hides padding"), right, 0.0)
    yield more_than(say("(B, T) lets queries see padding"), largest(naive), 0.1)
