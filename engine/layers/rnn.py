"""The simple recurrent layer (Elman, Finding Structure in Time, 1990).

    a_t = W_xh x_t + b_x + W_hh h_{t−1} + b_h        (…, H)
    h_t = tanh a_t                                   (…, H)

The same weights serve every step: W_xh (H, d_in), W_hh (H, H), b_x and b_h (H,), two biases as in torch.nn.RNN. All
weights start uniform on ±1/√H.
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


@dataclass(frozen=True)
class RNNTrace:
    """`pre_activation` a_t and `hidden` h_t of every step, each (…, T, H); of one step, (…, H)."""

    pre_activation: Tensor
    hidden: Tensor


class RNN(nn.Module):
    """Reads (…, T, inputs), returns the hidden states (…, T, hidden); `activation` is tanh unless given."""

    def __init__(
        self,
        inputs: int,
        hidden: int,
        *,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.activation = activation
        draw = uniform(1 / math.sqrt(hidden), generator, dtype, device)
        self.input_weight = draw(hidden, inputs)
        self.state_weight = draw(hidden, hidden)
        self.input_bias = draw(hidden)
        self.state_bias = draw(hidden)

    def forward(self, inputs: Tensor, start: Tensor | None = None) -> tuple[Tensor, RNNTrace]:
        """Return h_1 … h_T (…, T, H) and the trace; h_0 is `start` (…, H), zeros unless given."""
        hidden_width, input_width = self.input_weight.shape
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
        """Return the part of a_t that comes from the input, W_xh x_t + b_x, for any number of steps at once."""
        return F.linear(inputs, self.input_weight, self.input_bias)  # (…, H)

    def step(self, projected: Tensor, hidden: Tensor) -> RNNTrace:
        """Take one step from h_{t−1} (…, H), given the projected input (…, H)."""
        pre_activation = projected + F.linear(hidden, self.state_weight, self.state_bias)
        return RNNTrace(pre_activation, self.activation(pre_activation))
