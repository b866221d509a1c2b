"""Draws one by one from a torch generator, for data that are words and not tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch

Item = TypeVar("Item")

_AT_ONCE = 256  # one call of torch costs as much as fifty of these numbers


class Draws:
    """Uniform draws in the order in which they are asked for; two with equal generators draw alike."""

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator
        self._numbers: list[float] = []

    def uniform(self) -> float:
        """Return a number from [0, 1)."""
        if not self._numbers:
            self._numbers = torch.rand(_AT_ONCE, generator=self._generator, dtype=torch.float64).tolist()
        return self._numbers.pop()

    def below(self, count: int) -> int:
        """Return one of 0 … count − 1."""
        return int(self.uniform() * count)

    def choice(self, items: Sequence[Item]) -> Item:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.uniform() < probability
