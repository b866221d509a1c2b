"""Rotary positions (Su et al., RoFormer, 2021, section 3.2).

    ω_i = base^(−2i/d_k)                                          i = 0 … d_k/2 − 1
    (x_2i, x_2i+1) ← (x_2i cos pω_i − x_2i+1 sin pω_i, x_2i sin pω_i + x_2i+1 cos pω_i)

Each pair of features of a query or key at position p is turned by the angle pω_i. Turning keeps lengths, and the
product of a query at m with a key at n depends on m − n only. Nothing is added to the embeddings.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor


def rotary(heads: Tensor, *, offset: int = 0, base: float = 10_000.0) -> Tensor:
    """Turn queries or keys (…, n, d_k) at positions offset … offset + n − 1; d_k must be even."""
    cosine, sine = _turns(heads.shape[-2], heads.shape[-1], offset, base)
    return rotate_pairs(heads, cosine.to(heads.dtype).to(heads.device), sine.to(heads.dtype).to(heads.device))


def rotate_pairs(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the pairs of neighbouring features of (…, n, d_k) by angles given as cosine and sine (…, n, d_k/2)."""
    if heads.shape[-1] % 2:
        raise ValueError(f"rotary positions turn pairs of features, but a head is {heads.shape[-1]} wide")
    first, second = heads[..., 0::2], heads[..., 1::2]  # each (…, n, d_k/2)
    turned = torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1)  # (…, n, d_k/2, 2)
    return turned.flatten(-2)  # (…, n, d_k)


@lru_cache(maxsize=32)
def _turns(length: int, width: int, offset: int, base: float) -> tuple[Tensor, Tensor]:
    """Return cosine and sine of pω_i, float64, each (length, ⌈width/2⌉); every block of a model asks for the same."""
    positions = torch.arange(offset, offset + length, dtype=torch.float64, device="cpu")
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device="cpu") / width
    angles = positions[:, None] * base**-exponents  # (length, ⌈width/2⌉)
    return angles.cos(), angles.sin()
