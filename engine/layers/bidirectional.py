"""Reading a sequence from both ends (Schuster and Paliwal, 1997).

    h_j = [h_j→ ; h_j←]         (…, T, 2H)

h_j→ has read x_1 … x_j, h_j← has read x_T … x_j. With padding, T is each sequence's own length: the backward layer
starts at the last real step, not in the padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

Trace = TypeVar("Trace", covariant=True)


class Recurrent(Protocol[Trace]):
    """A layer that reads (…, T, d_in) and returns its states (…, T, H) with a trace: RNN, LSTM or GRU."""

    def __call__(self, inputs: Tensor) -> tuple[Tensor, Trace]: ...


@dataclass(frozen=True)
class BidirectionalTrace(Generic[Trace]):
    """The traces of the two layers; `backward` has its own order of time, last real step first."""

    forward: Trace
    backward: Trace


class Bidirectional(nn.Module, Generic[Trace]):
    """Two recurrent layers of any kind, one of which reads backwards."""

    def __init__(self, forward_layer: Recurrent[Trace], backward_layer: Recurrent[Trace]) -> None:
        super().__init__()
        self.forward_layer = forward_layer
        self.backward_layer = backward_layer

    def forward(self, inputs: Tensor, kept: Tensor | None = None) -> tuple[Tensor, BidirectionalTrace[Trace]]:
        """Return the joined states (…, T, 2H) and both traces.

        `kept` (…, T) is boolean, True for real steps, which come first; the states at padded steps mean nothing.
        """
        ahead, forward_trace = self.forward_layer(inputs)  # (…, T, H)
        reversed_states, backward_trace = self.backward_layer(reverse_time(inputs, kept))  # (…, T, H)
        joined = torch.cat((ahead, reverse_time(reversed_states, kept)), dim=-1)  # (…, T, 2H)
        return joined, BidirectionalTrace(forward_trace, backward_trace)


def reverse_time(sequence: Tensor, kept: Tensor | None = None) -> Tensor:
    """Return the steps of (…, T, width) in reverse order; padded steps (kept False, at the end) stay where they are."""
    if kept is None:
        return sequence.flip(-2)
    steps = torch.arange(sequence.shape[-2], device=sequence.device)
    mirrored = kept.sum(-1, keepdim=True) - 1 - steps  # (…, T)
    order = torch.where(kept, mirrored, steps)  # (…, T)
    return sequence.gather(-2, order.unsqueeze(-1).expand_as(sequence))
