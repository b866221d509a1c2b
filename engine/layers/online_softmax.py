"""Attention that reads keys and values in blocks and keeps no row of scores (online softmax; Milakov and Gimelshein,
2018; Rabe and Staats, 2021; FlashAttention, Dao et al., 2022).

    for each block, with scores z:
        m' = max(m, max z)                              the running maximum
        l' = l · e^(m − m') + Σ e^(z − m')              the running sum
        o' = o · e^(m − m') + Σ e^(z − m') v            the running output
    y = o / l

The result is that of attention in one go: only the order of the sums and the memory change, O(n · block) for O(n²).
The maximum starts at the smallest finite number: from −∞ a fully masked block would make −∞ − (−∞) = NaN.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attend_in_blocks(
    query: Tensor, key: Tensor, value: Tensor, block: int, mask: Tensor | None = None, *, scale: float | None = None
) -> Tensor:
    """Return the attention output (…, n, d_v) for query (…, n, d_k), key (…, m, d_k) and value (…, m, d_v).

    `mask` is boolean (…, n, m), True = may attend; a row that may attend to nothing is zero. `scale` is 1/√d_k unless
    given. Raises ValueError for a block below 1.
    """
    if block < 1:
        raise ValueError(f"a block holds {block} keys; it needs at least 1")
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    maximum = query.new_full((*query.shape[:-1], 1), torch.finfo(query.dtype).min)  # (…, n, 1)
    total = torch.zeros_like(maximum)  # (…, n, 1)
    output = query.new_zeros(*query.shape[:-1], value.shape[-1])  # (…, n, d_v)
    for start in range(0, key.shape[-2], block):
        stop = min(start + block, key.shape[-2])
        scores = query @ key[..., start:stop, :].transpose(-2, -1) * scale  # (…, n, block)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., start:stop], -math.inf)
        new_maximum = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
        kept = (maximum - new_maximum).exp()  # what the old sums are worth at the new maximum
        powers = (scores - new_maximum).exp()  # (…, n, block)
        total = total * kept + powers.sum(dim=-1, keepdim=True)
        output = output * kept + powers @ value[..., start:stop, :]
        maximum = new_maximum
    return output / total.clamp(min=1)  # the largest score alone adds 1; a row without keys stays 0
