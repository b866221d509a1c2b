"""Multi-head self-attention (Vaswani et al., Attention Is All You Need, 2017, section 3.2.2).

    head_i = attention(X W_Qᵢᵀ, X W_Kᵢᵀ, X W_Vᵢᵀ)         every head reads the whole width of X
    output = [head_1; …; head_A] W_Oᵀ

The projections of all heads are stacked into one matrix each: W_Q and W_K (A·d_k, width), W_V (A·d_v, width),
W_O (width, A·d_v). They start as those of torch.nn.MultiheadAttention.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.contract.parameters import divisors_up_to
from engine.layers.attention import attend


@dataclass(frozen=True)
class MultiHeadTrace:
    """The named intermediates of all heads: query, key (…, heads, n, d_k), value and head_outputs (…, heads, n, d_v),
    products q·k, scores and weights (…, heads, n, n)."""

    query: Tensor
    key: Tensor
    value: Tensor
    products: Tensor
    scores: Tensor
    weights: Tensor
    head_outputs: Tensor


class MultiHeadAttention(nn.Module):
    """Self-attention with `heads` heads of widths d_k and d_v, both width / heads unless given.

    Raises ValueError when the width cannot be divided among the heads. `bias` adds one to Q, K and V; W_O always has
    one. With a `generator` the start is drawn from it, else from torch's global one.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.d_k = d_k or head_width(width, heads)
        self.d_v = d_v or head_width(width, heads)

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(*shape, dtype=dtype, device=device))

        self.query_weight = parameter(heads * self.d_k, width)
        self.key_weight = parameter(heads * self.d_k, width)
        self.value_weight = parameter(heads * self.d_v, width)
        self.output_weight = parameter(width, heads * self.d_v)
        self.query_bias = parameter(heads * self.d_k) if bias else None
        self.key_bias = parameter(heads * self.d_k) if bias else None
        self.value_bias = parameter(heads * self.d_v) if bias else None
        self.output_bias = parameter(width)
        if self.output_bias.device.type != "meta":
            self._draw_start(generator)

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> tuple[Tensor, MultiHeadTrace]:
        """Return the output (…, n, width) for inputs of that shape, and the trace.

        The mask is boolean, True = may attend, and broadcasts to (…, heads, n, n).
        """
        query = split_heads(F.linear(inputs, self.query_weight, self.query_bias), self.heads)  # (…, heads, n, d_k)
        key = split_heads(F.linear(inputs, self.key_weight, self.key_bias), self.heads)  # (…, heads, n, d_k)
        value = split_heads(F.linear(inputs, self.value_weight, self.value_bias), self.heads)  # (…, heads, n, d_v)
        head_outputs, attention = attend(query, key, value, mask)  # (…, heads, n, d_v)
        output = F.linear(merge_heads(head_outputs), self.output_weight, self.output_bias)  # (…, n, width)
        trace = MultiHeadTrace(query, key, value, attention.products, attention.scores, attention.weights, head_outputs)
        return output, trace

    @torch.no_grad()
    def _draw_start(self, generator: torch.Generator | None) -> None:
        """Draw Xavier-uniform Q, K, V (as one stacked matrix) and a uniform W_O; biases stay 0."""
        inputs = (self.query_weight, self.key_weight, self.value_weight)
        bound = math.sqrt(6 / (sum(weight.shape[0] for weight in inputs) + self.query_weight.shape[1]))
        for weight in inputs:
            weight.uniform_(-bound, bound, generator=generator)
        bound = 1 / math.sqrt(self.output_weight.shape[1])
        self.output_weight.uniform_(-bound, bound, generator=generator)


def split_heads(stacked: Tensor, heads: int) -> Tensor:
    """Cut the last dimension into consecutive heads: (…, n, heads · d) → (…, heads, n, d)."""
    separate = stacked.reshape(*stacked.shape[:-1], heads, head_width(stacked.shape[-1], heads))  # (…, n, heads, d)
    return separate.transpose(-3, -2)


def merge_heads(separate: Tensor) -> Tensor:
    """Put the heads side by side again: (…, heads, n, d) → (…, n, heads · d)."""
    return separate.transpose(-3, -2).flatten(-2)


def head_width(width: int, heads: int) -> int:
    """Return width / heads; raise ValueError naming the numbers of heads that divide the width."""
    if heads < 1 or width % heads:
        valid = ", ".join(map(str, divisors_up_to(width, width)))
        raise ValueError(f"width {width} cannot be cut into {heads} equal heads; these divide it: {valid}")
    return width // heads
