"""Scaled dot-product attention (Vaswani et al., Attention Is All You Need, 2017, equation 1).

    scores  = Q Kᵀ / (τ √d_k) + B    (…, n_query, n_key)
    weights = softmax of each row    (…, n_query, n_key)
    output  = weights · V            (…, n_query, d_v)

A mask is boolean and broadcasts to the scores; True means "may attend". A row that may attend to nothing has zero
weights and a zero output. In the formula of the paper the temperature τ is 1 and the bias B is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class AttentionTrace:
    """The named intermediates: `products` q·k, `scores` after scaling and bias, `weights`; each (…, n_query, n_key)."""

    query: Tensor
    key: Tensor
    scores: Tensor
    weights: Tensor

    @property
    def products(self) -> Tensor:
        """The dot products q·k, computed when somebody asks: training has no use for one more n × n matrix."""
        return self.query @ self.key.transpose(-2, -1)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    temperature: float = 1.0,
    bias: Tensor | None = None,
) -> tuple[Tensor, AttentionTrace]:
    """Return the attention output (…, n_query, d_v) and its trace; `scale` is 1/√d_k unless given, `bias` is
    added to the scores and broadcasts to them.

    Raises ValueError when the shapes do not fit, TypeError for a mask that is not boolean.
    """
    _check_shapes(query, key, value)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * (scale / temperature)) @ key.transpose(-2, -1)  # (…, n_query, n_key)
    if bias is not None:
        scores = scores + bias
    weights = masked_softmax(scores, mask)
    output = weights @ value  # (…, n_query, d_v)
    return output, AttentionTrace(query, key, scores, weights)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the softmax of each row over the keys the mask leaves open; a row without any is all zeros."""
    if mask is None:
        return torch.softmax(scores, dim=-1)
    if mask.dtype is not torch.bool:
        raise TypeError(f"the mask has dtype {mask.dtype}, but a mask is boolean: True means “may attend”")
    has_open_key = mask.any(dim=-1, keepdim=True)
    # A blocked row keeps its scores and is zeroed afterwards: softmax over −∞ alone would be NaN, gradient included.
    # The −∞ are filled into the mask's own, small shape; filling the scores themselves takes ten times as long.
    closed = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(has_open_key & ~mask, -math.inf)
    weights = torch.softmax(scores + closed, dim=-1)
    if mask.is_cpu and has_open_key.all():  # asking a GPU would make it wait
        return weights
    return weights * has_open_key


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Return the mask (length, length) in which a position may attend to itself and to what comes before it."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"queries have width {query.shape[-1]} and keys {key.shape[-1]}; they must be equal")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys and {value.shape[-2]} values; each key needs its value")
