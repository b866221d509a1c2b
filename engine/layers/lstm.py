"""Long short-term memory (Hochreiter and Schmidhuber, 1997; the forget gate: Gers et al., 2000).

    i, f, o = σ(W_i x_t + U_i h_{t−1} + b_i), …      input, forget and output gate, (…, H), between 0 and 1
    g       = tanh(W_g x_t + U_g h_{t−1} + b_g)      the candidate, (…, H)
    c_t     = f ⊙ c_{t−1} + i ⊙ g                    the cell: an addition, not a product of matrices
    h_t     = o ⊙ tanh c_t

The four blocks are stacked in torch's order i, f, g, o: W (4H, d_in), U (4H, H) and two biases (4H,). All start uniform
on ±1/√H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.recurrent import check_sequence, check_state, stack_steps
from engine.layers.start import uniform


@dataclass(frozen=True)
class LSTMGates:
    """What one step wants to do to the cell; each (…, H)."""

    input_gate: Tensor
    forget_gate: Tensor
    candidate: Tensor
    output_gate: Tensor


@dataclass(frozen=True)
class LSTMTrace(LSTMGates):
    """The gates, the `cell` c_t and the `hidden` state h_t of every step, each (…, T, H); of one step, (…, H)."""

    cell: Tensor
    hidden: Tensor


class LSTM(nn.Module):
    """Reads (…, T, inputs), returns the hidden states (…, T, hidden).

    `forget_bias` is where the bias of the forget gate starts (1 or more keeps the gate open at first, Jozefowicz et
    al., 2015); without it that bias is drawn like all others.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        *,
        forget_bias: float | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        draw = uniform(1 / math.sqrt(hidden), generator, dtype, device)
        self.input_weight = draw(4 * hidden, inputs)
        self.state_weight = draw(4 * hidden, hidden)
        self.input_bias = draw(4 * hidden)
        self.state_bias = draw(4 * hidden)
        if forget_bias is not None:
            with torch.no_grad():
                self.input_bias[hidden : 2 * hidden] = forget_bias
                self.state_bias[hidden : 2 * hidden] = 0.0

    def forward(
        self, inputs: Tensor, start: Tensor | None = None, start_cell: Tensor | None = None
    ) -> tuple[Tensor, LSTMTrace]:
        """Return h_1 … h_T (…, T, H) and the trace; h_0 and c_0 (…, H) are zeros unless given."""
        hidden_width, input_width = self.state_weight.shape[1], self.input_weight.shape[1]
        check_sequence(inputs, input_width)
        zeros = inputs.new_zeros(*inputs.shape[:-2], hidden_width)
        hidden = zeros if start is None else start
        cell = zeros if start_cell is None else start_cell
        check_state("start", hidden, inputs, hidden_width)
        check_state("start cell", cell, inputs, hidden_width)
        steps = []
        for projected in self.project(inputs).unbind(-2):
            step = remember(self.gates(projected, hidden), cell)
            hidden, cell = step.hidden, step.cell
            steps.append(step)
        trace = stack_steps(steps)
        return trace.hidden, trace

    def project(self, inputs: Tensor) -> Tensor:
        """Return the part of the four pre-activations that comes from the input, for any number of steps at once."""
        return F.linear(inputs, self.input_weight, self.input_bias)  # (…, 4H)

    def gates(self, projected: Tensor, hidden: Tensor) -> LSTMGates:
        """Return the gates and the candidate, given the projected input (…, 4H) and h_{t−1} (…, H)."""
        pre_activation = projected + F.linear(hidden, self.state_weight, self.state_bias)
        input_gate, forget_gate, candidate, output_gate = pre_activation.chunk(4, dim=-1)  # each (…, H)
        return LSTMGates(input_gate.sigmoid(), forget_gate.sigmoid(), candidate.tanh(), output_gate.sigmoid())


def remember(gates: LSTMGates, cell: Tensor) -> LSTMTrace:
    """Let the gates act on the cell c_{t−1} (…, H): forget, write, show."""
    new_cell = gates.forget_gate * cell + gates.input_gate * gates.candidate
    hidden = gates.output_gate * new_cell.tanh()
    return LSTMTrace(gates.input_gate, gates.forget_gate, gates.candidate, gates.output_gate, new_cell, hidden)
