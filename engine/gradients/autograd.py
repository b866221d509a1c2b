"""The same derivatives by automatic differentiation alone: what the closed forms are checked against.

A backward pass derives one number. Here the sequence is read by as many copies as the state has numbers, and copy i
derives number i, so that one pass gives a whole Jacobian.

A net with large weights is chaotic: within fifty steps the rounding of a product that was summed in another order grows
a billionfold, and two readings of one sentence visit different states. `pinned` keeps them together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Read = Callable[[Tensor], Tensor]


def from_the_start_by_autograd(read: Read, start: Tensor, width: int, distances: Sequence[int]) -> Tensor:
    """Return ∂(state k)/∂(start) for every k of `distances` (from 1 on), (len(distances), width, S).

    `read` runs the sequence from a batch of starts (B, S) and returns the states 1 … T, (B, T, width).
    """
    starts = start.detach().expand(width, -1).clone().requires_grad_()
    states = read(starts)
    jacobians = [
        torch.autograd.grad(states[:, k - 1].diagonal().sum(), starts, retain_graph=True)[0] for k in distances
    ]
    return torch.stack(jacobians)


def to_the_inputs_by_autograd(read: Read, inputs: Tensor, width: int) -> Tensor:
    """Return ∂(last state)/∂(input t) for every t, (T, width, d_in).

    `read` runs a batch of sequences (B, T, d_in) and returns their states (B, T, width).
    """
    copies = inputs.detach().expand(width, -1, -1).clone().requires_grad_()
    (gradient,) = torch.autograd.grad(read(copies)[:, -1].diagonal().sum(), copies)
    return gradient.transpose(0, 1)


def pinned(state: Tensor, recorded: Tensor) -> Tensor:
    """Return `recorded` in value with the derivatives of `state`, which differs from it by rounding."""
    return recorded + (state - state.detach())
