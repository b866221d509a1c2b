"""Stochastic gradient descent, with or without momentum (Polyak, 1964).

u ← μ u + g
θ ← θ − η u              μ = 0: plain gradient descent, u = g
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from engine.training.optimiser import copy_named, gradients, named


class SGD:
    """Steps against the gradient; the step is as large as the gradient is."""

    def __init__(self, parameters: Iterable[nn.Parameter], *, momentum: float = 0.0) -> None:
        self.parameters: list[Tensor] = list(parameters)
        self.momentum = momentum
        self.velocity = [torch.zeros_like(parameter) for parameter in self.parameters] if momentum else []

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Take one step at this learning rate."""
        direction = gradients(self.parameters)
        if self.momentum:
            torch._foreach_mul_(self.velocity, self.momentum)
            torch._foreach_add_(self.velocity, direction)
            direction = self.velocity
        torch._foreach_add_(self.parameters, direction, alpha=-rate)

    def state(self) -> dict[str, Tensor]:
        """Return u, nothing without momentum."""
        return named("velocity", self.velocity)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Remember again what `state` returned."""
        copy_named("velocity", self.velocity, state)
