"""Masks say who may attend to whom. Everywhere: boolean, True = may attend, broadcast to (…, heads, n_query, n_key).

    causal     M_ij = (j ≤ i)                       a position sees itself and the past (`attention.causal_mask`)
    padding    kept (batch, n) → (batch, 1, 1, n)   nobody sees padding; heads and queries share the row
    both       padding & causal
    window     M_ij = (0 ≤ i − j < w)               a position sees itself and the w − 1 before it

A mask (batch, n) without the two ones in the middle would broadcast over queries instead of sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(kept: Tensor) -> Tensor:
    """Return the mask (…, 1, 1, n) of sentences whose real tokens are True in `kept` (…, n)."""
    if kept.dtype is not torch.bool:
        raise TypeError(f"kept has dtype {kept.dtype}, but it is boolean: True means “a real token”")
    return kept[..., None, None, :]


def continued_causal_mask(past: int, new: int, device: torch.device | str | None = None) -> Tensor:
    """Return the causal mask (new, past + new) of `new` positions that follow `past` earlier ones."""
    return torch.ones(new, past + new, dtype=torch.bool, device=device).tril(past)


def local_causal_mask(length: int, window: int, device: torch.device | str | None = None) -> Tensor:
    """Return the mask (length, length) in which a position may attend to itself and the `window` − 1 before it."""
    ones = torch.ones(length, length, dtype=torch.bool, device=device)
    return ones.tril() & ~ones.tril(-window)
