"""PREVIOUS: name the symbol before each position, which asks for nothing but order.

x_1 x_2 x_3 …  →  x_1 x_1 x_2 …        10 symbols, chance .10
"""

from __future__ import annotations

import torch
from torch import Tensor

SYMBOLS = 10


def previous(generator: torch.Generator, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Draw `count` rows of symbols and return them and their targets, each (count, length)."""
    symbols = torch.randint(0, SYMBOLS, (count, length), generator=generator)
    return symbols, torch.cat((symbols[:, :1], symbols[:, :-1]), dim=1)
