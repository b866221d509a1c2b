"""Sinusoidal position encoding (Vaswani et al., Attention Is All You Need, 2017, section 3.5).

    PE[p, 2i]     = sin(p / base^(2i/width))
    PE[p, 2i + 1] = cos(p / base^(2i/width))

An odd width ends with a sine that has no cosine.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoidal(length: int, width: int, *, base: float = 10_000.0, offset: int = 0) -> Tensor:
    """Return the encoding of positions offset … offset + length − 1, float64, (length, width)."""
    positions = torch.arange(offset, offset + length, dtype=torch.float64)
    exponents = torch.arange(0, width, 2, dtype=torch.float64) / width  # (⌈width/2⌉,)
    angles = positions[:, None] * base**-exponents  # (length, ⌈width/2⌉)
    encoding = torch.empty(length, width, dtype=torch.float64)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()[:, : width // 2]
    return encoding
