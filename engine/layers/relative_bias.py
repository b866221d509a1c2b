"""Relative position buckets (Raffel et al., Exploring the Limits of Transfer Learning (T5), 2020, section 2.1).

    scores_ij ← scores_ij + table[bucket(j − i), head]

Near distances have a bucket each, farther ones share buckets that grow logarithmically up to `furthest`, and all beyond
share the last. With `both_sides` half of the buckets are for keys after the query; without, those share bucket 0.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from engine.layers.start import embedding


class RelativeBias(nn.Module):
    """A learned number for each bucket and head; all blocks of a stack use the same table."""

    def __init__(
        self,
        heads: int,
        *,
        both_sides: bool,
        buckets: int = 32,
        furthest: int = 128,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.both_sides = both_sides
        self.furthest = furthest
        self.table = embedding(buckets, heads, generator=generator)

    def forward(self, queries: int, keys: int) -> Tensor:
        """Return the bias (heads, queries, keys); the queries are the last of the `keys` positions."""
        positions = torch.arange(keys, device=self.table.weight.device)
        offsets = positions - positions[keys - queries :, None]  # (queries, keys), j − i
        buckets = bucket(offsets, self.table.num_embeddings, self.furthest, self.both_sides)
        return self.table.weight[buckets].permute(2, 0, 1)  # (heads, queries, keys)


def bucket(offsets: Tensor, buckets: int, furthest: int, both_sides: bool) -> Tensor:
    """Return the bucket of each offset j − i, integers from 0 to buckets − 1, same shape."""
    first = torch.zeros_like(offsets)
    if both_sides:
        buckets //= 2
        first = (offsets > 0) * buckets
        distance = offsets.abs()
    else:
        distance = (-offsets).clamp_min(0)
    exact = buckets // 2
    growth = torch.log(distance.clamp_min(1) / exact) / math.log(furthest / exact)  # 0 at `exact`, 1 at `furthest`
    shared = (exact + (growth * (buckets - exact)).long()).clamp_max(buckets - 1)
    return first + torch.where(distance < exact, distance, shared)
