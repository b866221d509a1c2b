"""REVERSE: write a row of digits backwards.

    3 1 4 1 5  →  5 1 4 1 3

The last digit comes first, so that a model has to carry the whole row before it can say anything.
"""

from __future__ import annotations

import torch
from torch import Tensor

DIGITS = 10


def reverse(generator: torch.Generator, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Draw `count` rows of digits and return them and their reverse, each (count, length)."""
    digits = torch.randint(0, DIGITS, (count, length), generator=generator)
    return digits, digits.flip(1)
