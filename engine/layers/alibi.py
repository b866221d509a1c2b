"""Attention with linear biases (Press, Smith and Lewis, Train Short, Test Long, 2022, section 3).

    scores_ij ← scores_ij − slope_a · |i − j|        slope_a = 2^(−8a/A), heads a = 1 … A

Far keys lose, at another rate in every head; nothing is added to the embeddings and nothing is learned. Under a causal
mask |i − j| is i − j, as in the paper; without one the distance has no direction.
"""

from __future__ import annotations

import torch
from torch import Tensor


def alibi(heads: int, queries: int, keys: int) -> Tensor:
    """Return the bias (heads, queries, keys), float64; the queries are the last of the `keys` positions."""
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)  # (heads,)
    positions = torch.arange(keys, dtype=torch.float64)
    distance = (positions[keys - queries :, None] - positions).abs()  # (queries, keys)
    return -slopes[:, None, None] * distance
