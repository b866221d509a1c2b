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

from engine.gradients.chain import check_one_sequence, states_before
from engine.layers.gru import GRU, GRUTrace, keep, replace, reset_after, reset_before


@dataclass(frozen=True)
class GRUSteps:
    """Steps of a GRU: what each gate and the candidate contribute, (T, H); weights (3, H, H) and (3, H, d_in).

    `kept` is κ, `by_update` ζ, `by_candidate` (1 − κ)(1 − n²), `reset_gate` r, and `by_reset` what r (1 − r) scales:
    U_n h + c_n after the product, h before it.
    """

    kept: Tensor
    by_update: Tensor
    by_candidate: Tensor
    reset_gate: Tensor
    by_reset: Tensor
    state_weights: Tensor
    input_weights: Tensor
    resets_before: bool

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
        return rows * self.kept[t] + rows @ self._through_gates(t)

    def push(self, columns: Tensor, t: int) -> Tensor:
        """Return J of step t · columns: (H, C) → (H, C)."""
        return self.kept[t].unsqueeze(1) * columns + self._through_gates(t) @ columns

    def pull_to_input(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · ∂h/∂x of step t: (R, H) → (R, d_in)."""
        reset, update, candidate = self.input_weights
        through_reset = self.by_reset[t].unsqueeze(1) * reset  # (H, d_in)
        if self.resets_before:
            through_reset = self.state_weights[2] @ through_reset
        gates = self.by_update[t].unsqueeze(1) * update
        jacobian: Tensor = gates + self.by_candidate[t].unsqueeze(1) * (candidate + through_reset)  # (H, d_in)
        return rows @ jacobian

    def _through_gates(self, t: int) -> Tensor:
        """Return ∂h_t/∂h without the kept share, (H, H)."""
        reset, update, candidate = self.state_weights
        through_reset = self.by_reset[t].unsqueeze(1) * reset
        if self.resets_before:
            through_reset = candidate @ (through_reset + self.reset_gate[t].diag())
        else:
            through_reset = through_reset + self.reset_gate[t].unsqueeze(1) * candidate
        jacobian: Tensor = self.by_update[t].unsqueeze(1) * update + self.by_candidate[t].unsqueeze(1) * through_reset
        return jacobian


@torch.no_grad()
def gru_steps(layer: GRU, trace: GRUTrace, start: Tensor | None = None) -> GRUSteps:
    """Return the steps `layer` took in `trace`, fields (T, H), from h_0 = `start` (zeros unless given).

    Raises ValueError for a reset or update of the learner's own, whose derivative is not known here.
    """
    check_one_sequence(trace.hidden)
    if layer.reset not in (reset_after, reset_before) or layer.update not in (keep, replace):
        raise ValueError("the closed form knows reset_after and reset_before, keep and replace")
    before = states_before(start, trace.hidden)  # (T, H)
    r, z, n = trace.reset_gate, trace.update_gate, trace.candidate
    kept, sign = (z, 1.0) if layer.update is keep else (1 - z, -1.0)
    hidden = trace.hidden.shape[1]
    state_weights = layer.state_weight.view(3, hidden, hidden)
    resets_before = layer.reset is reset_before
    scaled = before if resets_before else F.linear(before, state_weights[2], layer.state_bias[2 * hidden :])
    return GRUSteps(
        kept=kept,
        by_update=sign * (before - n) * z * (1 - z),
        by_candidate=(1 - kept) * (1 - n.square()),
        reset_gate=r,
        by_reset=scaled * r * (1 - r),
        state_weights=state_weights,
        input_weights=layer.input_weight.view(3, hidden, -1),
        resets_before=resets_before,
    )
