"""The step Jacobian of the gated recurrent unit, for both places of the reset gate.

With κ the share of the old state that a unit keeps (z, or 1 − z where z replaces) and a_n the candidate's argument:

    h_t           = κ ⊙ h + (1 − κ) ⊙ n,  n = tanh a_n                                   h is h_{t−1}
    ∂h_t/∂h       = diag(κ) + diag(ζ) U_z + diag((1 − κ)(1 − n²)) ∂a_n/∂h                 (H, H)
    ζ             = ± (h − n) z (1 − z)                                                   + where z keeps

    reset_after     ∂a_n/∂h = diag(r) U_n + diag((U_n h + c_n) r (1 − r)) U_r
    reset_before    ∂a_n/∂h = U_n (diag(r) + diag(h r (1 − r)) U_r)

The derivative by x_t has the same terms with W for U, without κ, and W_n alone where U_n acts on h itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.gradients.chain import check_one_sequence, scaled_sum, states_before
from engine.layers.gru import GRU, GRUTrace, keep, replace, reset_after, reset_before


@dataclass(frozen=True)
class GRUSteps:
    """Steps of a GRU that resets after the product: κ is `kept` (T, H).

    The factors (T, 3, H) scale the rows of the blocks r, z, n, which are (3, H, H) for the state and (3, H, d_in) for
    the input.
    """

    kept: Tensor
    state_factors: Tensor
    input_factors: Tensor
    state_weights: Tensor
    input_weights: Tensor

    @property
    def count(self) -> int:
        """The number of steps."""
        return self.kept.shape[0]

    @property
    def identity(self) -> Tensor:
        """The identity matrix of the state, (H, H)."""
        return torch.eye(self.kept.shape[1], dtype=self.kept.dtype, device=self.kept.device)

    def pull(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · J of step t: (R, H) → (R, H)."""
        return torch.addmm(rows * self.kept[t], rows, self.through_gates(t))

    def push(self, columns: Tensor, t: int) -> Tensor:
        """Return J of step t · columns: (H, C) → (H, C)."""
        return torch.addmm(self.kept[t].unsqueeze(1) * columns, self.through_gates(t), columns)

    def pull_to_input(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · ∂h/∂x of step t: (R, H) → (R, d_in)."""
        return rows @ self.through_input(t)

    def through_gates(self, t: int) -> Tensor:
        """Return ∂h_t/∂h without the kept share, (H, H)."""
        return scaled_sum(self.state_factors[t], self.state_weights)

    def through_input(self, t: int) -> Tensor:
        """Return ∂h_t/∂x_t, (H, d_in)."""
        return scaled_sum(self.input_factors[t], self.input_weights)


@dataclass(frozen=True)
class ResetBeforeSteps(GRUSteps):
    """Steps of a GRU that resets before the product: U_n stands between the factors of n and those of r."""

    reset_gate: Tensor

    def through_gates(self, t: int) -> Tensor:
        """Return ∂h_t/∂h without the kept share, (H, H)."""
        reset, update, candidate = self.state_factors[t].unsqueeze(2)  # each (H, 1)
        reset_state = self.reset_gate[t].diag() + reset * self.state_weights[0]  # ∂(r ⊙ h)/∂h
        return torch.addmm(update * self.state_weights[1], candidate * self.state_weights[2], reset_state)

    def through_input(self, t: int) -> Tensor:
        """Return ∂h_t/∂x_t, (H, d_in)."""
        reset, update, candidate = self.input_factors[t].unsqueeze(2)  # each (H, 1)
        by_candidate = self.input_weights[2] + self.state_weights[2] @ (reset * self.input_weights[0])
        return torch.addcmul(update * self.input_weights[1], candidate, by_candidate)


@torch.no_grad()
def gru_steps(layer: GRU, trace: GRUTrace, start: Tensor | None = None) -> GRUSteps:
    """Return the steps `layer` took in `trace`, fields (T, H), from h_0 = `start` (zeros unless given).

    Raises ValueError for a reset or update of the learner's own, whose derivative is not known here.
    """
    check_one_sequence(trace.hidden)
    if layer.reset not in (reset_after, reset_before) or layer.update not in (keep, replace):
        raise ValueError("the closed form knows reset_after and reset_before, keep and replace")
    before = states_before(start, trace.hidden)  # (T, H)
    r, z, n = (tensor.detach() for tensor in (trace.reset_gate, trace.update_gate, trace.candidate))
    kept, sign = (z, 1.0) if layer.update is keep else (1 - z, -1.0)
    by_update = sign * (before - n) * z * (1 - z)  # ζ
    by_candidate = (1 - kept) * (1 - n.square())
    hidden = trace.hidden.shape[1]
    state_weights = layer.state_weight.detach().view(3, hidden, hidden)
    input_weights = layer.input_weight.detach().view(3, hidden, -1)
    if layer.reset is reset_before:
        factors = torch.stack((before * r * (1 - r), by_update, by_candidate), dim=1)  # (T, 3, H)
        return ResetBeforeSteps(kept, factors, factors, state_weights, input_weights, r)
    product = F.linear(before, state_weights[2], layer.state_bias[2 * hidden :])  # U_n h + c_n, (T, H)
    by_reset = by_candidate * product * r * (1 - r)
    state_factors = torch.stack((by_reset, by_update, by_candidate * r), dim=1)
    input_factors = torch.stack((by_reset, by_update, by_candidate), dim=1)
    return GRUSteps(kept, state_factors, input_factors, state_weights, input_weights)
