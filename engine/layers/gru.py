"""The gated recurrent unit, in both ways it is written.

    r = σ(W_r x_t + b_r + U_r h + c_r)               reset gate, (…, H); h is h_{t−1}
    z = σ(W_z x_t + b_z + U_z h + c_z)               update gate, (…, H)

The candidate n (…, H) applies the reset gate before or after the product, which are different functions:

    reset_before   n = tanh(W_n x_t + b_n + U_n (r ⊙ h) + c_n)      Cho et al., 2014
    reset_after    n = tanh(W_n x_t + b_n + r ⊙ (U_n h + c_n))      torch, cuDNN

The update gate keeps or replaces, which is only a matter of naming (z becomes 1 − z):

    keep           h_t = (1 − z) ⊙ n + z ⊙ h                        Cho et al., 2014; torch
    replace        h_t = (1 − z) ⊙ h + z ⊙ n                        Chung et al., 2014

The three blocks are stacked in torch's order r, z, n: W (3H, d_in), U (3H, H), biases b and c (3H,). All start uniform
on ±1/√H.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.recurrent import check_sequence, check_state, stack_steps
from engine.layers.start import uniform

Reset = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Update = Callable[[Tensor, Tensor, Tensor], Tensor]


def reset_before(reset: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return what the candidate takes from the state: U_n (r ⊙ h) + c_n, (…, H)."""
    return F.linear(reset * hidden, weight, bias)


def reset_after(reset: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return what the candidate takes from the state: r ⊙ (U_n h + c_n), (…, H)."""
    return reset * F.linear(hidden, weight, bias)


def keep(update: Tensor, hidden: Tensor, candidate: Tensor) -> Tensor:
    """Return the new state where z is the share of the old one."""
    return (1 - update) * candidate + update * hidden


def replace(update: Tensor, hidden: Tensor, candidate: Tensor) -> Tensor:
    """Return the new state where z is the share of the candidate."""
    return (1 - update) * hidden + update * candidate


@dataclass(frozen=True)
class GRUTrace:
    """`reset_gate`, `update_gate`, `candidate` and `hidden` of every step, each (…, T, H); of one step, (…, H)."""

    reset_gate: Tensor
    update_gate: Tensor
    candidate: Tensor
    hidden: Tensor


class GRU(nn.Module):
    """Reads (…, T, inputs), returns the hidden states (…, T, hidden); as torch.nn.GRU unless told otherwise.

    `update_bias` is where the bias of the update gate starts; with `keep`, a positive one makes the unit remember at
    first. Without it that bias is drawn like all others.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        *,
        reset: Reset = reset_after,
        update: Update = keep,
        update_bias: float | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.reset = reset
        self.update = update
        draw = uniform(1 / math.sqrt(hidden), generator, dtype, device)
        self.input_weight = draw(3 * hidden, inputs)
        self.state_weight = draw(3 * hidden, hidden)
        self.input_bias = draw(3 * hidden)
        self.state_bias = draw(3 * hidden)
        if update_bias is not None:
            with torch.no_grad():
                self.input_bias[hidden : 2 * hidden] = update_bias
                self.state_bias[hidden : 2 * hidden] = 0.0

    def forward(self, inputs: Tensor, start: Tensor | None = None) -> tuple[Tensor, GRUTrace]:
        """Return h_1 … h_T (…, T, H) and the trace; h_0 is `start` (…, H), zeros unless given."""
        hidden_width, input_width = self.state_weight.shape[1], self.input_weight.shape[1]
        check_sequence(inputs, input_width)
        hidden = inputs.new_zeros(*inputs.shape[:-2], hidden_width) if start is None else start
        check_state("start", hidden, inputs, hidden_width)
        steps = []
        for projected in self.project(inputs).unbind(-2):
            step = self.step(projected, hidden)
            hidden = step.hidden
            steps.append(step)
        trace = stack_steps(steps)
        return trace.hidden, trace

    def project(self, inputs: Tensor) -> Tensor:
        """Return the part of the three pre-activations that comes from the input, for any number of steps at once."""
        return F.linear(inputs, self.input_weight, self.input_bias)  # (…, 3H)

    def step(self, projected: Tensor, hidden: Tensor) -> GRUTrace:
        """Take one step from h_{t−1} (…, H), given the projected input (…, 3H)."""
        gates = 2 * hidden.shape[-1]
        from_state = F.linear(hidden, self.state_weight[:gates], self.state_bias[:gates])  # (…, 2H)
        reset_gate, update_gate = (projected[..., :gates] + from_state).sigmoid().chunk(2, dim=-1)  # each (…, H)
        recalled = self.reset(reset_gate, hidden, self.state_weight[gates:], self.state_bias[gates:])  # (…, H)
        candidate = torch.tanh(projected[..., gates:] + recalled)
        return GRUTrace(reset_gate, update_gate, candidate, self.update(update_gate, hidden, candidate))
