"""A mistaken multi-head attention, for study: it cuts the *input* into slices and gives all heads one small projection.

    head_i = attention(Xᵢ W_Qᵀ, Xᵢ W_Kᵀ, Xᵢ W_Vᵀ)         Xᵢ is slice i of X, d_k = width / A wide
    output = [head_1; …; head_A] W_Oᵀ

W_Q, W_K, W_V (d_k, d_k) serve every head and have no bias. Head i never sees the other slices, two slices exchanged
exchange the two maps, and more heads mean fewer weights: it is a weaker function than multi-head attention.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.attention import attend
from engine.layers.multi_head import MultiHeadTrace, head_width, merge_heads, split_heads


class SharedSliceAttention(nn.Module):
    """Self-attention whose head i reads slice i of the input only; raises ValueError as MultiHeadAttention does."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.d_k = head_width(width, heads)

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(*shape, dtype=dtype, device=device))

        self.query_weight = parameter(self.d_k, self.d_k)
        self.key_weight = parameter(self.d_k, self.d_k)
        self.value_weight = parameter(self.d_k, self.d_k)
        self.output_weight = parameter(width, width)
        self.output_bias = parameter(width)
        if self.output_bias.device.type != "meta":
            self._draw_start(generator)

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> tuple[Tensor, MultiHeadTrace]:
        """Return the output (…, n, width) for inputs of that shape, and the trace; masks as in MultiHeadAttention."""
        slices = split_heads(inputs, self.heads)  # (…, heads, n, d_k)
        query = F.linear(slices, self.query_weight)  # (…, heads, n, d_k)
        key = F.linear(slices, self.key_weight)  # (…, heads, n, d_k)
        value = F.linear(slices, self.value_weight)  # (…, heads, n, d_k)
        head_outputs, attention = attend(query, key, value, mask)  # (…, heads, n, d_k)
        output = F.linear(merge_heads(head_outputs), self.output_weight, self.output_bias)  # (…, n, width)
        trace = MultiHeadTrace(query, key, value, attention.scores, attention.weights, head_outputs)
        return output, trace

    @torch.no_grad()
    def _draw_start(self, generator: torch.Generator | None) -> None:
        """Draw the same kind of start as MultiHeadAttention's, for its own widths."""
        bound = math.sqrt(6 / (4 * self.d_k))
        for weight in (self.query_weight, self.key_weight, self.value_weight):
            weight.uniform_(-bound, bound, generator=generator)
        bound = 1 / math.sqrt(self.output_weight.shape[1])
        self.output_weight.uniform_(-bound, bound, generator=generator)
