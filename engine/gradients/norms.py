"""How large a Jacobian is, at any size of its entries: 1e-200 does not vanish in the squares, infinity is a result."""

from __future__ import annotations

import torch
from torch import Tensor


def spectral_norms(matrices: Tensor) -> Tensor:
    """Return the largest singular value of each matrix, (…, R, C) → (…); NaN or infinity where an entry is."""
    scaled, size = _scaled(matrices)
    norms: Tensor = torch.linalg.matrix_norm(scaled, 2) * size
    return norms


def frobenius_norms(matrices: Tensor) -> Tensor:
    """Return √Σ entry² of each matrix, (…, R, C) → (…); NaN or infinity where an entry is."""
    norms: Tensor = torch.linalg.vector_norm(matrices, dim=(-2, -1))
    safe = torch.finfo(matrices.dtype).tiny ** 0.4  # squares of entries that matter here neither vanish nor overflow
    outside = ~((norms > safe) & (norms < 1 / safe))
    if outside.any():
        scaled, size = _scaled(matrices[outside])
        norms[outside] = torch.linalg.vector_norm(scaled, dim=(-2, -1)) * size
    return norms


def relative_differences(matrices: Tensor, references: Tensor) -> Tensor:
    """Return ‖A − B‖ / ‖B‖ in the Frobenius norm, (…, R, C) → (…); 0 where both are 0 or equally non-finite."""
    difference, size = frobenius_norms(matrices - references), frobenius_norms(references)
    alike = ((matrices == references) | (matrices.isnan() & references.isnan())).all(-1).all(-1)
    return torch.where(alike, 0.0, difference / size)


def _scaled(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Return the matrices divided by their largest entry, and that entry (…); 0 counts as 1.

    A matrix with a non-finite entry becomes a single 1, and its size is NaN where a NaN is, else infinity.
    """
    if matrices.numel() == 0:
        raise ValueError(f"a matrix of shape {tuple(matrices.shape)} has no entries and no norm")
    size = matrices.abs().amax((-2, -1))  # (…)
    finite = size.isfinite()
    unit = torch.zeros_like(matrices)
    unit[..., 0, 0] = 1.0
    divisor = torch.where(finite & (size > 0), size, 1.0)[..., None, None]
    scaled = torch.where(finite[..., None, None], matrices / divisor, unit)
    return scaled, torch.where(size == 0, 1.0, size)
