"""Multi-head attention (Vaswani et al., Attention Is All You Need, 2017, section 3.2.2).

    head_i = attention(X W_Qᵢᵀ, M W_Kᵢᵀ, M W_Vᵢᵀ)         every head reads the whole width of X and M
    output = [head_1; …; head_A] W_Oᵀ

In self-attention the memory M is X itself, in cross-attention the output of an encoder. The projections of all heads
are stacked into one matrix each: W_Q and W_K (A·d_k, width), W_V (A·d_v, width), W_O (width, A·d_v). They start as
those of torch.nn.MultiheadAttention.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.contract.parameters import divisors_up_to
from engine.layers.attention import attend


@dataclass(frozen=True)
class KeyValues:
    """What attention can look at: `key` (…, heads, m, d_k) and `value` (…, heads, m, d_v) of m positions."""

    key: Tensor
    value: Tensor


@dataclass(frozen=True)
class MultiHeadTrace:
    """The named intermediates of all heads: query (…, heads, n, d_k), key (…, heads, m, d_k), value (…, heads, m, d_v),
    products q·k, scores and weights (…, heads, n, m), head_outputs (…, heads, n, d_v)."""

    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    weights: Tensor
    head_outputs: Tensor

    @property
    def products(self) -> Tensor:
        """The dot products q·k, computed when somebody asks."""
        return self.query @ self.key.transpose(-2, -1)

    @property
    def key_values(self) -> KeyValues:
        """What the next call takes as `past` or `memory`: the key–value cache."""
        return KeyValues(self.key, self.value)


class MultiHeadAttention(nn.Module):
    """Attention with `heads` heads of widths d_k and d_v, both width / heads unless given.

    Raises ValueError when the width cannot be divided among the heads. `bias` adds one to Q, K and V, `output_bias` one
    to W_O; `scale` multiplies the products q·k and is 1/√d_k unless given. With a `generator` the start is drawn from
    it, else from torch's global one.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        output_bias: bool = True,
        scale: float | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.d_k = d_k or head_width(width, heads)
        self.d_v = d_v or head_width(width, heads)
        self.scale = scale

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(*shape, dtype=dtype, device=device))

        self.query_weight = parameter(heads * self.d_k, width)
        self.key_weight = parameter(heads * self.d_k, width)
        self.value_weight = parameter(heads * self.d_v, width)
        self.output_weight = parameter(width, heads * self.d_v)
        self.query_bias = parameter(heads * self.d_k) if bias else None
        self.key_bias = parameter(heads * self.d_k) if bias else None
        self.value_bias = parameter(heads * self.d_v) if bias else None
        self.output_bias = parameter(width) if output_bias else None
        if self.output_weight.device.type != "meta":
            self._draw_start(generator)

    def forward(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | KeyValues | None = None,
        past: KeyValues | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, MultiHeadTrace]:
        """Return the output (…, n, width) for inputs of that shape, and the trace.

        Queries come from the inputs; keys and values from `memory` (…, m, width), or as they are when they were
        computed before, or from the inputs too. `past` is put in front of the keys and values (the cache). `rotate`
        turns queries and new keys by their positions; `bias` is added to the scores. The mask is boolean, True = may
        attend; both broadcast to (…, heads, n, m).
        """
        query = self._project(inputs, self.query_weight, self.query_bias)  # (…, heads, n, d_k)
        found = memory if isinstance(memory, KeyValues) else self.look(inputs if memory is None else memory)
        key, value = found.key, found.value  # (…, heads, m, d_k), (…, heads, m, d_v)
        if rotate is not None:
            query, key = rotate(query), rotate(key)
        if past is not None:
            key = torch.cat((past.key, key), dim=-2)  # (…, heads, past + m, d_k)
            value = torch.cat((past.value, value), dim=-2)  # (…, heads, past + m, d_v)
        head_outputs, attention = attend(query, key, value, mask, scale=self.scale, bias=bias)  # (…, heads, n, d_v)
        output = F.linear(merge_heads(head_outputs), self.output_weight, self.output_bias)  # (…, n, width)
        trace = MultiHeadTrace(query, key, value, attention.scores, attention.weights, head_outputs)
        return output, trace

    def look(self, memory: Tensor) -> KeyValues:
        """Return the keys and values of `memory` (…, m, width)."""
        return KeyValues(
            self._project(memory, self.key_weight, self.key_bias),
            self._project(memory, self.value_weight, self.value_bias),
        )

    def _project(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if inputs.dim() < 2 or inputs.shape[-1] != weight.shape[1]:
            raise ValueError(
                f"the input has shape {tuple(inputs.shape)}; this attention reads (…, n, {weight.shape[1]})"
            )
        return split_heads(F.linear(inputs, weight, bias), self.heads)  # (…, heads, n, d)

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
