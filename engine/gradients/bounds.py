"""What a matrix alone says about gradients through time (Pascanu, Mikolov and Bengio, 2013).

    ‖∂h_T/∂h_k‖₂ ≤ σ₁(W)^(T−k)             for slopes of at most 1: vanishing is certain when σ₁ < 1
    ‖W^k‖₂ ≈ ρ(W)^k in the long run        without activation; a non-normal W may grow first

σ₁ is the largest singular value, ρ the spectral radius: the largest *modulus* of an eigenvalue. ρ ≤ σ₁.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def spectral_radius(matrix: Tensor) -> float:
    """Return the largest modulus of an eigenvalue of a square matrix."""
    return float(torch.linalg.eigvals(matrix).abs().max().item())


def largest_singular_value(matrix: Tensor) -> float:
    """Return σ₁, the most by which the matrix can stretch a vector."""
    return float(torch.linalg.matrix_norm(matrix, 2).item())


def scale_to_radius(matrix: Tensor, radius: float) -> Tensor:
    """Return the matrix scaled so that its spectral radius is `radius`; raise ValueError when it has radius 0."""
    present = spectral_radius(matrix)
    if present == 0:
        raise ValueError("a matrix whose eigenvalues are all 0 cannot be scaled to another spectral radius")
    return matrix * (radius / present)


def powers(base: float, count: int) -> Tensor:
    """Return base¹ … base^count, (count,), float64."""
    return torch.pow(torch.tensor(base, dtype=torch.float64), torch.arange(1, count + 1, dtype=torch.float64))


def half_life(factor: float) -> float:
    """Return after how many steps a memory multiplied by `factor` each step has halved; ∞ from 1 on, 0 at 0."""
    if factor >= 1:
        return math.inf
    return math.log(0.5) / math.log(factor) if factor > 0 else 0.0
