"""Layer normalization (Ba, Kiros and Hinton, 2016) and RMS normalization (Zhang and Sennrich, 2019).

    LN(x)  = γ ⊙ (x − μ) / √(s² + ε) + β         μ, s²: mean and population variance of the features of one token
    RMS(x) = γ ⊙ x / √(mean(x²) + ε)

Each token is normalized by itself, whatever the others are. ε stands inside the root; the gain γ starts at 1, the bias
β at 0, both (width,).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class LayerNormTrace:
    """`mean` and `variance` of each token (…, 1), and the `normalized` features before gain and bias (…, width)."""

    mean: Tensor
    variance: Tensor
    normalized: Tensor


class LayerNorm(nn.Module):
    """Normalizes the last dimension to mean 0 and variance 1, then applies gain and bias."""

    def __init__(self, width: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, inputs: Tensor) -> tuple[Tensor, LayerNormTrace]:
        """Return the normalized inputs (…, width) and the trace."""
        _check_width(inputs, self.gain)
        mean = inputs.mean(dim=-1, keepdim=True)  # (…, 1)
        centred = inputs - mean
        variance = centred.square().mean(dim=-1, keepdim=True)  # (…, 1)
        normalized = centred * torch.rsqrt(variance + self.eps)
        return normalized * self.gain + self.bias, LayerNormTrace(mean, variance, normalized)


@dataclass(frozen=True)
class RMSNormTrace:
    """`mean_square` of each token (…, 1), and the `normalized` features before the gain (…, width)."""

    mean_square: Tensor
    normalized: Tensor


class RMSNorm(nn.Module):
    """Divides the last dimension by its root mean square, then applies the gain; the mean stays."""

    def __init__(self, width: int, *, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, inputs: Tensor) -> tuple[Tensor, RMSNormTrace]:
        """Return the normalized inputs (…, width) and the trace."""
        _check_width(inputs, self.gain)
        mean_square = inputs.square().mean(dim=-1, keepdim=True)  # (…, 1)
        normalized = inputs * torch.rsqrt(mean_square + self.eps)
        return normalized * self.gain, RMSNormTrace(mean_square, normalized)


def _check_width(inputs: Tensor, gain: Tensor) -> None:
    if inputs.shape[-1:] != gain.shape:
        raise ValueError(f"the input has shape {tuple(inputs.shape)}; this norm has one gain for each of {len(gain)}")
