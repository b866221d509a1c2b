"""AdamW (Kingma and Ba, Adam, 2015; Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019).

    m ← β₁ m + (1 − β₁) g                    mean of the recent gradients
    v ← β₂ v + (1 − β₂) g²                   mean of their squares
    θ ← θ − η λ θ                            weight decay, apart from the gradient
    θ ← θ − η m̂ / (√v̂ + ε)                   m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ): at first m and v are too small

With λ = 0 this is Adam. The arithmetic is that of torch.optim.AdamW to the last bit; importing that costs the first run
more than a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from engine.training.optimiser import copy_named, gradients, named


class AdamW:
    """Gives every parameter a step of its own size, about η while its gradients agree."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        self.parameters: list[Tensor] = list(parameters)
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.steps = 0
        self.mean = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.square = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Take one step at this learning rate."""
        gradient = gradients(self.parameters)
        self.steps += 1
        beta_mean, beta_square = self.betas
        if self.weight_decay:
            torch._foreach_mul_(self.parameters, 1 - rate * self.weight_decay)
        torch._foreach_lerp_(self.mean, gradient, 1 - beta_mean)
        torch._foreach_mul_(self.square, beta_square)
        torch._foreach_addcmul_(self.square, gradient, gradient, 1 - beta_square)
        size = torch._foreach_sqrt(self.square)
        torch._foreach_div_(size, math.sqrt(1 - beta_square**self.steps))
        torch._foreach_add_(size, self.eps)
        torch._foreach_addcdiv_(self.parameters, self.mean, size, -rate / (1 - beta_mean**self.steps))

    def state(self) -> dict[str, Tensor]:
        """Return t, m and v."""
        return {"steps": torch.tensor(self.steps), **named("mean", self.mean), **named("square", self.square)}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Remember again what `state` returned."""
        copy_named("mean", self.mean, state)
        copy_named("square", self.square, state)
        self.steps = int(state["steps"])
