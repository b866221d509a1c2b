"""RECALL: name the first symbol after D distractors.

    s  d_1 … d_D  →  s        s from 0 … 3, distractors from 4 … 7

Only what a model keeps over D steps can tell the four symbols apart; guessing costs ln 4 a sequence.
"""

from __future__ import annotations

import torch
from torch import Tensor

SYMBOLS = 4
TOKENS = 2 * SYMBOLS


def recall(generator: torch.Generator, count: int, distractors: int) -> tuple[Tensor, Tensor]:
    """Draw `count` sequences: tokens (count, 1 + D) and the symbols asked for (count,)."""
    symbols = torch.randint(0, SYMBOLS, (count,), generator=generator)
    noise = torch.randint(SYMBOLS, TOKENS, (count, distractors), generator=generator)
    return torch.cat((symbols[:, None], noise), dim=1), symbols
