"""The step Jacobian of the LSTM on its joint state (h, c), and the direct path through the cell alone.

With U_• and W_• the four blocks of the weights and s = o ⊙ (1 − tanh² c_t), how much of a change of the cell shows:

    ∂c_t/∂h_{t−1} = diag(g i (1 − i)) U_i + diag(c_{t−1} f (1 − f)) U_f + diag(i (1 − g²)) U_g        (H, H)
    ∂h_t/∂h_{t−1} = diag(tanh c_t · o (1 − o)) U_o + diag(s) ∂c_t/∂h_{t−1}                            (H, H)
    ∂c_t/∂c_{t−1} = diag(f)
    ∂h_t/∂c_{t−1} = diag(s f)

The direct path ∏ diag(f) is what remains when gates and candidate are not allowed to see h.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.gradients.chain import check_one_sequence, scaled_sum, states_before
from engine.layers.lstm import LSTM, LSTMTrace


@dataclass(frozen=True)
class LSTMSteps:
    """Steps of an LSTM, state (h, c) of width S = 2H.

    `forget_gate` f, `shown` s, `by_output` tanh c_t · o (1 − o), each (T, H); `by_write` (T, 3, H) are the factors of
    the blocks i, f, g in ∂c_t/∂h_{t−1}; weights (4, H, H) and (4, H, d_in) in the order i, f, g, o.
    """

    forget_gate: Tensor
    shown: Tensor
    by_output: Tensor
    by_write: Tensor
    state_weights: Tensor
    input_weights: Tensor

    @property
    def count(self) -> int:
        """The number of steps."""
        return self.forget_gate.shape[0]

    @property
    def identity(self) -> Tensor:
        """The identity matrix of the joint state, (2H, 2H)."""
        return torch.eye(2 * self.shown.shape[1], dtype=self.shown.dtype, device=self.shown.device)

    def pull(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · J of step t: (R, 2H) → (R, 2H)."""
        by_hidden, by_cell = self._split(rows, t)  # each (R, H)
        pulled = torch.empty_like(rows)
        to_hidden, to_cell = pulled.chunk(2, dim=1)  # each (R, H)
        torch.mm(by_hidden * self.by_output[t], self.state_weights[3], out=to_hidden)
        to_hidden.addmm_(by_cell, self._written(self.state_weights, t))
        torch.mul(by_cell, self.forget_gate[t], out=to_cell)
        return pulled

    def push(self, columns: Tensor, t: int) -> Tensor:
        """Return J of step t · columns: (2H, C) → (2H, C)."""
        hidden, cell = columns.chunk(2)  # each (H, C)
        new_cell = torch.addmm(self.forget_gate[t].unsqueeze(1) * cell, self._written(self.state_weights, t), hidden)
        new_hidden = self.by_output[t].unsqueeze(1) * (self.state_weights[3] @ hidden)
        return torch.cat((new_hidden + self.shown[t].unsqueeze(1) * new_cell, new_cell))

    def pull_to_input(self, rows: Tensor, t: int) -> Tensor:
        """Return rows · ∂(h, c)/∂x of step t: (R, 2H) → (R, d_in)."""
        by_hidden, by_cell = self._split(rows, t)
        through_output = (by_hidden * self.by_output[t]) @ self.input_weights[3]
        return through_output + by_cell @ self._written(self.input_weights, t)

    def _split(self, rows: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Return the derivatives by h_t and by c_t, the latter with the way through h_t, each (R, H)."""
        by_hidden, by_cell = rows.chunk(2, dim=1)
        return by_hidden, torch.addcmul(by_cell, by_hidden, self.shown[t])

    def _written(self, weights: Tensor, t: int) -> Tensor:
        """Return what a change of h_{t−1} (or of x_t) writes to the cell: (H, H) (or (H, d_in))."""
        return scaled_sum(self.by_write[t], weights[:3])


@torch.no_grad()
def lstm_steps(layer: LSTM, trace: LSTMTrace, start_cell: Tensor | None = None) -> LSTMSteps:
    """Return the steps `layer` took in `trace`, fields (T, H), from c_0 = `start_cell` (zeros unless given)."""
    check_one_sequence(trace.hidden)
    gates = (trace.input_gate, trace.forget_gate, trace.candidate, trace.output_gate)
    i, f, g, o = (gate.detach() for gate in gates)
    before = states_before(start_cell, trace.cell)  # (T, H)
    squashed = trace.cell.tanh()
    hidden = trace.hidden.shape[1]
    return LSTMSteps(
        forget_gate=f,
        shown=o * (1 - squashed.square()),
        by_output=squashed * o * (1 - o),
        by_write=torch.stack((g * i * (1 - i), before * f * (1 - f), i * (1 - g.square())), dim=1),
        state_weights=layer.state_weight.detach().view(4, hidden, hidden),
        input_weights=layer.input_weight.detach().view(4, hidden, -1),
    )


def hidden_rows(steps: LSTMSteps) -> Tensor:
    """Return the rows that derive h_T alone, (H, 2H): for `to_the_end` and `to_the_inputs`."""
    return steps.identity[: steps.shown.shape[1]]


def cell_rows(steps: LSTMSteps) -> Tensor:
    """Return the rows that derive c_T alone, (H, 2H)."""
    return steps.identity[steps.shown.shape[1] :]


def direct_to_the_end(forget_gate: Tensor) -> Tensor:
    """Return the direct path from c_k to c_T, f_{k+1} ⊙ ⋯ ⊙ f_T for k = 0 … T−1: gates (…, T, H) → (…, T, H)."""
    return forget_gate.flip(-2).cumprod(-2).flip(-2)


def direct_from_the_start(forget_gate: Tensor) -> Tensor:
    """Return the direct path from c_0 to c_k, f_1 ⊙ ⋯ ⊙ f_k for k = 1 … T: gates (…, T, H) → (…, T, H)."""
    return forget_gate.cumprod(-2)
