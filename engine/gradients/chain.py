"""The chain rule through time, as products of the Jacobians of single steps.

    s_t = step(s_{t−1}, x_t)                       the state of a recurrent layer, (S,)
    J_t = ∂s_t/∂s_{t−1}                            (S, S)

    ∂s_T/∂s_k = J_T J_{T−1} ⋯ J_{k+1}              later factors stand further left
    ∂s_T/∂x_k = J_T J_{T−1} ⋯ J_{k+1} · ∂s_k/∂x_k

Row by row, autograd walks back through all steps once per number of the state. One product of matrices per step gives
the same derivatives for every k, at a few percent of the time. Nothing is clipped: a product that overflows is
infinite or NaN.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Steps(Protocol):
    """The steps of one read sequence, in closed form; a step t, counted from 0, turns state t into state t + 1."""

    @property
    def count(self) -> int:
        """The number of steps T."""

    @property
    def identity(self) -> Tensor:
        """The identity matrix of the state, (S, S)."""

    def pull(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · J of step t: (R, S) → (R, S)."""

    def push(self, columns: Tensor, t: int) -> Tensor:
        """Return J of step t · columns: (S, C) → (S, C)."""

    def pull_to_input(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · ∂s/∂x of step t: (R, S) → (R, d_in)."""


def to_the_end(steps: Steps, rows: Tensor | None = None) -> Tensor:
    """Return rows · ∂s_T/∂s_k for k = 0 … T−1, (T, R, S).

    `rows` (R, S) choose what is derived; without them it is the whole state s_T.
    """
    product = steps.identity if rows is None else rows
    jacobians = product.new_empty(steps.count, *product.shape)
    for t in reversed(range(steps.count)):
        product = steps.pull(product, t)
        jacobians[t] = product
    return jacobians


def from_the_start(steps: Steps, columns: Tensor | None = None) -> Tensor:
    """Return ∂s_k/∂s_0 · columns for k = 1 … T, (T, S, C).

    `columns` (S, C) choose what is derived by; without them it is the whole state s_0.
    """
    product = steps.identity if columns is None else columns
    jacobians = product.new_empty(steps.count, *product.shape)
    for t in range(steps.count):
        product = steps.push(product, t)
        jacobians[t] = product
    return jacobians


def to_the_inputs(steps: Steps, rows: Tensor | None = None) -> Tensor:
    """Return rows · ∂s_T/∂x_t for every step t, (T, R, d_in); `rows` as in `to_the_end`."""
    product = steps.identity if rows is None else rows
    jacobians = []
    for t in reversed(range(steps.count)):
        jacobians.append(steps.pull_to_input(product, t))
        product = steps.pull(product, t)
    return torch.stack(jacobians[::-1])


def scaled_sum(factors: Tensor, weights: Tensor) -> Tensor:
    """Return Σ_b diag(factors_b) weights_b: (B, H), (B, H, n) → (H, n)."""
    total = factors[0].unsqueeze(1) * weights[0]
    for factor, weight in zip(factors[1:], weights[1:], strict=True):
        total.addcmul_(factor.unsqueeze(1), weight)  # in place: a sum of B products would first write all of them
    return total


def check_one_sequence(hidden: Tensor) -> None:
    """Raise ValueError unless `hidden` (T, H) are the states of a single sequence."""
    if hidden.dim() != 2:
        raise ValueError(
            f"the hidden states have shape {tuple(hidden.shape)}; step Jacobians take one sequence, (T, H)"
        )


def states_before(start: Tensor | None, states: Tensor) -> Tensor:
    """Return s_0 … s_{T−1} from s_1 … s_T (T, H); s_0 is zeros unless given."""
    first = torch.zeros_like(states[:1]) if start is None else start.reshape(1, -1)
    return torch.cat((first, states[:-1])).detach()
