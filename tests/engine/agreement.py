"""How far our layers are from somebody else's: every comparison is asserted, the worst is printed (`pytest -rA`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor, nn

TOLERANCE = 1e-10


class Agree(Protocol):
    """Compare one tensor of ours with one of theirs."""

    def __call__(self, ours: Tensor, theirs: Tensor) -> None: ...


@contextmanager
def agreement(reference: str, tolerance: float = TOLERANCE) -> Iterator[Agree]:
    """Assert |ours − theirs| ≤ tolerance · max(1, |theirs|) for every pair it is shown, and print the worst."""
    worst, pairs = 0.0, 0

    def agree(ours: Tensor, theirs: Tensor) -> None:
        nonlocal worst, pairs
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        difference = (ours - theirs).abs().masked_fill(ours == theirs, 0.0)  # equal infinities differ by 0, not by NaN
        error = (difference / theirs.abs().clamp_min(1.0)).max().item()
        assert error <= tolerance, f"{reference}: off by {error:.1e}"
        worst, pairs = max(worst, error), pairs + 1

    yield agree
    assert pairs, f"nothing was compared with {reference}"
    print(f"{reference:48s} largest difference {worst:.1e} (allowed {tolerance:.0e}) over {pairs} tensors")


def seeded(seed: int) -> torch.Generator:
    """Return a generator of its own for one example."""
    return torch.Generator().manual_seed(seed)


def normal(generator: torch.Generator, *shape: int) -> Tensor:
    """Return float64 draws of N(0, 1)."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@torch.no_grad()
def copy_recurrent(ours: nn.Module, theirs: nn.RNNBase, suffix: str = "") -> None:
    """Copy the weights of a one-layer torch.nn recurrent module into ours; `suffix` "_reverse" for its second half."""
    names = {"input_weight": "weight_ih", "state_weight": "weight_hh", "input_bias": "bias_ih", "state_bias": "bias_hh"}
    for name, torch_name in names.items():
        ours.get_parameter(name).copy_(theirs.get_parameter(f"{torch_name}_l0{suffix}"))
