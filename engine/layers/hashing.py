"""Which vectors share a bucket: locality-sensitive hashing (Andoni et al., 2015; Reformer, Kitaev et al., 2020).

    h(x) = argmax [x R; −x R]      R (d, b/2) random, b buckets

Vectors of a small angle often fall into the same bucket; attention then compares only those. Several rounds with
other R find what one has missed.
"""

from __future__ import annotations

import torch
from torch import Tensor


def buckets(vectors: Tensor, rotation: Tensor) -> Tensor:
    """Return the bucket 0 … b−1 of each vector (n, d) under `rotation` (d, b/2): (n,)."""
    projected = vectors @ rotation  # (n, b/2)
    return torch.cat([projected, -projected], dim=-1).argmax(dim=-1)


def same_bucket(vectors: Tensor, rotations: Tensor) -> Tensor:
    """Return after each round which pairs have shared a bucket so far, boolean (rounds, n, n).

    `rotations` are (rounds, d, b/2). Later rounds only add pairs.
    """
    met = torch.stack([buckets(vectors, rotation) for rotation in rotations])  # (rounds, n)
    pairs = met[:, :, None] == met[:, None, :]  # (rounds, n, n)
    return pairs.cumsum(dim=0) > 0
