"""Activation functions of the feed-forward network.

    relu(a)      = max(a, 0)
    gelu(a)      = a Φ(a) = a/2 · (1 + erf(a/√2))                  Hendrycks and Gimpel, 2016
    gelu_tanh(a) = a/2 · (1 + tanh(√(2/π) · (a + 0.044715 a³)))    the same, approximated; at most 4.8e-4 away

Φ is the distribution function of N(0, 1). BERT uses the exact GELU, GPT-2 the approximation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def relu(a: Tensor) -> Tensor:
    """Return max(a, 0)."""
    return a.clamp_min(0.0)


def gelu(a: Tensor) -> Tensor:
    """Return a Φ(a)."""
    return 0.5 * a * (1 + torch.erf(a / math.sqrt(2)))


def gelu_tanh(a: Tensor) -> Tensor:
    """Return the approximation of a Φ(a) by tanh."""
    return 0.5 * a * (1 + torch.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
