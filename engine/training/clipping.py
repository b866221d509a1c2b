"""Clipping by the global norm (Pascanu, Mikolov and Bengio, On the difficulty of training RNNs, 2013).

    g ← g · min(1, c/‖g‖)          ‖g‖ over all parameters together

It keeps the direction and only shortens: an exploded gradient becomes usable, a vanished one stays what it is. The norm
is summed in float64: in float32 the squares of an exploded gradient overflow, c/∞ = 0, and training would freeze.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Clip = Callable[[Sequence[Tensor]], float]


def gradient_norm(gradients: Sequence[Tensor]) -> float:
    """Return ‖g‖ over all tensors together; as a `Clip` it is the one that clips nothing."""
    norms = [torch.linalg.vector_norm(gradient, dtype=torch.float64) for gradient in gradients]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


def clipped_at(limit: float) -> Clip:
    """Return a function that shortens gradients in place to the norm `limit` and returns their norm before.

    Gradients within the limit are not touched at all.
    """

    @torch.no_grad()
    def clip(gradients: Sequence[Tensor]) -> float:
        norm = gradient_norm(gradients)
        if norm > limit:
            torch._foreach_mul_(tuple(gradients), limit / norm)
        return norm

    return clip
