"""The step Jacobian of the simple recurrent layer.

    h_t = φ(a_t),  a_t = W_xh x_t + W_hh h_{t−1} + b

    ∂h_t/∂h_{t−1} = diag(φ′(a_t)) W_hh             (H, H)
    ∂h_t/∂x_t     = diag(φ′(a_t)) W_xh             (H, d_in)

For φ = tanh the slope is φ′(a_t) = 1 − h_t²; h_t has the tanh in it already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.gradients.chain import check_one_sequence
from engine.layers.rnn import RNN, RNNTrace


def tanh_slope(trace: RNNTrace) -> Tensor:
    """Return 1 − h_t², (T, H)."""
    return 1 - trace.hidden.square()


def linear_slope(trace: RNNTrace) -> Tensor:
    """Return 1 for every unit and step, (T, H): the slope of a layer without activation."""
    return torch.ones_like(trace.hidden)


def relu_slope(trace: RNNTrace) -> Tensor:
    """Return 1 where a unit is positive and 0 elsewhere, (T, H)."""
    return (trace.pre_activation > 0).to(trace.hidden.dtype)


@dataclass(frozen=True)
class RNNSteps:
    """Steps of an RNN: `slopes` φ′(a_t) (T, H), W_hh (H, H), W_xh (H, d_in)."""

    slopes: Tensor
    state_weight: Tensor
    input_weight: Tensor

    @property
    def count(self) -> int:
        """The number of steps."""
        return self.slopes.shape[0]

    @property
    def identity(self) -> Tensor:
        """The identity matrix of the state, (H, H)."""
        return torch.eye(self.slopes.shape[1], dtype=self.slopes.dtype, device=self.slopes.device)

    def pull(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · J of step t: (R, H) → (R, H)."""
        return (rows * self.slopes[t]) @ self.state_weight

    def push(self, columns: Tensor, t: int) -> Tensor:
        """Return J of step t · columns: (H, C) → (H, C)."""
        return self.slopes[t].unsqueeze(1) * (self.state_weight @ columns)

    def pull_to_input(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · ∂h/∂x of step t: (R, H) → (R, d_in)."""
        return (rows * self.slopes[t]) @ self.input_weight


def rnn_steps(layer: RNN, trace: RNNTrace, slope: Callable[[RNNTrace], Tensor] = tanh_slope) -> RNNSteps:
    """Return the steps `layer` took in `trace`, fields (T, H); `slope` must be that of the layer's activation."""
    check_one_sequence(trace.hidden)
    return RNNSteps(slope(trace).detach(), layer.state_weight.detach(), layer.input_weight.detach())
