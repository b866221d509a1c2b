"""Learned positions (Gehring et al., Convolutional Sequence to Sequence Learning, 2017): one trained vector each.

    X = E[ids] + P[0 … n − 1]        P (length, width)

The table has no row beyond its length: a longer text is refused, not wrapped.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.layers.start import embedding


class LearnedPositions(nn.Module):
    """A table of `length` position vectors, normal with standard deviation `std` at the start."""

    def __init__(self, length: int, width: int, *, std: float = 1.0, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.table = embedding(length, width, std=std, generator=generator)

    def forward(self, length: int, offset: int = 0) -> Tensor:
        """Return the vectors of positions offset … offset + length − 1, (length, width)."""
        rows = self.table.num_embeddings
        if offset + length > rows:
            raise ValueError(f"the text has {offset + length} tokens, but only {rows} positions have been learned")
        return self.table.weight[offset : offset + length]
