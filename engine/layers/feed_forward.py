"""The position-wise feed-forward network (Vaswani et al., Attention Is All You Need, 2017, equation 2).

    FFN(x) = φ(x W_1ᵀ + b_1) W_2ᵀ + b_2          W_1 (inner, width), W_2 (width, inner)

Every position goes through the same network, by itself. φ is ReLU in the paper, GELU in BERT and GPT.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.activations import relu
from engine.layers.start import linear


@dataclass(frozen=True)
class FeedForwardTrace:
    """`pre_activation` and `activated`, each (…, n, inner)."""

    pre_activation: Tensor
    activated: Tensor


class FeedForward(nn.Module):
    """Expands each position to `inner` features, applies φ, and comes back to `width`."""

    def __init__(
        self,
        width: int,
        inner: int,
        *,
        activation: Callable[[Tensor], Tensor] = relu,
        bias: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.expand = linear(width, inner, bias=bias, generator=generator)
        self.contract = linear(inner, width, bias=bias, generator=generator)

    def forward(self, inputs: Tensor) -> tuple[Tensor, FeedForwardTrace]:
        """Return the output (…, n, width) and the trace."""
        if inputs.shape[-1:] != (self.expand.in_features,):
            raise ValueError(
                f"the input has shape {tuple(inputs.shape)}; this network reads (…, n, {self.expand.in_features})"
            )
        pre_activation = self.expand(inputs)  # (…, n, inner)
        activated = self.activation(pre_activation)
        return self.contract(activated), FeedForwardTrace(pre_activation, activated)
