"""The adding problem (Hochreiter and Schmidhuber, Long Short-Term Memory, 1997, section 5.4).

    Σ_t value_t · marker_t        values uniform on [0, 1), two markers are 1: one in each half

Always answering 1 costs a mean squared error of 1/6.
"""

from __future__ import annotations

import torch
from torch import Tensor

BASELINE = 1 / 6


def adding(generator: torch.Generator, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Draw `count` sequences: pairs of value and marker (count, length, 2), and the sums (count,), float32."""
    if length < 2:
        raise ValueError(f"the length is {length}; two markers need at least 2 steps")
    half = length // 2
    values = torch.rand(count, length, generator=generator)
    markers = torch.zeros(count, length)
    for start, end in ((0, half), (half, length)):
        marked = torch.randint(start, end, (count, 1), generator=generator)
        markers.scatter_(1, marked, 1.0)
    return torch.stack((values, markers), dim=-1), (values * markers).sum(1)
