"""Additive attention (Bahdanau, Cho and Bengio, Neural Machine Translation by Jointly Learning to Align, 2014).

    e_j = vᵀ tanh(W_s s + W_h h_j)                   energy of source position j
    α   = softmax of e over j                        (…, S)
    ctx = Σ_j α_j h_j                                (…, d_h)

The decoder state s (…, d_s) and the encoder states h (…, S, d_h) may have different widths: W_s (d_a, d_s),
W_h (d_a, d_h), v (d_a,). W_h h_j does not depend on the decoder and is computed once a sentence. All weights start
uniform on ±1/√(what they sum over), as those of torch.nn.Linear. A temperature τ divides the energies; τ = 1 is the
formula of the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.attention import masked_softmax
from engine.layers.start import uniform


@dataclass(frozen=True)
class AdditiveTrace:
    """`energies` e and `weights` α, each (…, S)."""

    energies: Tensor
    weights: Tensor


class AdditiveAttention(nn.Module):
    """Lets a decoder state of width d_s look at encoder states of width d_h; d_a is the width of the comparison."""

    def __init__(
        self,
        d_s: int,
        d_h: int,
        d_a: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.decoder_weight = uniform(1 / math.sqrt(d_s), generator, dtype, device)(d_a, d_s)
        self.encoder_weight = uniform(1 / math.sqrt(d_h), generator, dtype, device)(d_a, d_h)
        self.score_vector = uniform(1 / math.sqrt(d_a), generator, dtype, device)(d_a)

    def forward(
        self,
        decoder_state: Tensor,
        encoder_states: Tensor,
        mask: Tensor | None = None,
        *,
        keys: Tensor | None = None,
        temperature: float = 1.0,
    ) -> tuple[Tensor, AdditiveTrace]:
        """Return the context (…, d_h) and the trace.

        The mask (…, S) is boolean, True = may attend. `keys` are `self.keys(encoder_states)`, when they are at hand.
        """
        self._check_shapes(decoder_state, encoder_states)
        keys = self.keys(encoder_states) if keys is None else keys  # (…, S, d_a)
        query = F.linear(decoder_state, self.decoder_weight)  # (…, d_a)
        energies = torch.tanh(query.unsqueeze(-2) + keys) @ self.score_vector  # (…, S)
        weights = masked_softmax(energies / temperature, mask)  # (…, S)
        context = (weights.unsqueeze(-2) @ encoder_states).squeeze(-2)  # (…, d_h)
        return context, AdditiveTrace(energies, weights)

    def keys(self, encoder_states: Tensor) -> Tensor:
        """Return W_h h_j for every source position, (…, S, d_a)."""
        return F.linear(encoder_states, self.encoder_weight)

    def _check_shapes(self, decoder_state: Tensor, encoder_states: Tensor) -> None:
        d_s, d_h = self.decoder_weight.shape[1], self.encoder_weight.shape[1]
        if decoder_state.shape[-1] != d_s or encoder_states.shape[-1] != d_h:
            raise ValueError(
                f"the decoder state has width {decoder_state.shape[-1]} and the encoder states "
                f"{encoder_states.shape[-1]}; this attention compares widths {d_s} and {d_h}"
            )
        if encoder_states.dim() < 2 or encoder_states.shape[-2] == 0:
            raise ValueError(
                f"the encoder states have shape {tuple(encoder_states.shape)}: there is nothing to attend to"
            )
