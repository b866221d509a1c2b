"""The decoder block and the stack of them (Vaswani et al., Attention Is All You Need, 2017, section 3.1).

    y ← masked self-attention of y, with residual and norm      the past of the output
    y ← attention from y to the memory, with residual and norm  the encoder's output, in every block
    y ← feed-forward of y, with residual and norm

What a block has looked at once need not be computed again: the keys and values of past positions and of the memory are
its cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from engine.layers.feed_forward import FeedForward, FeedForwardTrace
from engine.layers.multi_head import KeyValues, MultiHeadAttention, MultiHeadTrace
from engine.layers.residual import Order, post_norm


@dataclass(frozen=True)
class DecoderCache:
    """Keys and values of one block: of the output so far, and of the memory."""

    past: KeyValues
    memory: KeyValues


@dataclass(frozen=True)
class DecoderBlockTrace:
    """The traces of the three sublayers and the `output` stream (…, n, width)."""

    self_attention: MultiHeadTrace
    cross_attention: MultiHeadTrace
    feed_forward: FeedForwardTrace
    output: Tensor


class DecoderBlock(nn.Module):
    """Self-attention, cross-attention, feed-forward; `norm` builds the norm of each sublayer."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        norm: Callable[[], nn.Module],
        *,
        order: Order = post_norm,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_norm = norm()
        self.cross_attention = cross_attention
        self.cross_attention_norm = norm()
        self.feed_forward = feed_forward
        self.feed_forward_norm = norm()
        self.dropout = nn.Dropout(dropout)
        self.order = order

    def forward(
        self,
        inputs: Tensor,
        memory: Tensor | KeyValues,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        past: KeyValues | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, DecoderBlockTrace]:
        """Return the new stream (…, n, width) and the trace.

        `mask` is for self-attention, (…, heads, n, n), `memory_mask` for cross-attention, (…, heads, n, m); both
        boolean, True = may attend. `bias` is added to the scores of self-attention.
        """

        def look_back(stream: Tensor) -> tuple[Tensor, MultiHeadTrace]:
            output, trace = self.self_attention(stream, mask, past=past, bias=bias)
            return self.dropout(output), trace

        def look_across(stream: Tensor) -> tuple[Tensor, MultiHeadTrace]:
            output, trace = self.cross_attention(stream, memory_mask, memory=memory)
            return self.dropout(output), trace

        def think(stream: Tensor) -> tuple[Tensor, FeedForwardTrace]:
            output, trace = self.feed_forward(stream)
            return self.dropout(output), trace

        stream, self_attention = self.order(inputs, look_back, self.self_attention_norm)
        stream, cross_attention = self.order(stream, look_across, self.cross_attention_norm)
        output, feed_forward = self.order(stream, think, self.feed_forward_norm)
        return output, DecoderBlockTrace(self_attention, cross_attention, feed_forward, output)


@dataclass(frozen=True)
class DecoderTrace:
    """The traces of the blocks, first to last."""

    blocks: tuple[DecoderBlockTrace, ...]

    @property
    def cache(self) -> tuple[DecoderCache, ...]:
        """The keys and values of every block: what the next call takes as `cache`."""
        return tuple(
            DecoderCache(block.self_attention.key_values, block.cross_attention.key_values) for block in self.blocks
        )


class Decoder(nn.Module):
    """Blocks one after the other, all looking at the same memory, and a norm on top where their order wants one."""

    def __init__(self, blocks: Iterable[DecoderBlock], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = final_norm

    def forward(
        self,
        inputs: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        cache: Sequence[DecoderCache] | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, DecoderTrace]:
        """Return the states (…, n, width) and the trace; with a `cache` the memory is not projected again."""
        stream, traces = inputs, []
        for index, block in enumerate(self.blocks):
            seen = memory if cache is None else cache[index].memory
            past = None if cache is None else cache[index].past
            stream, trace = block(stream, seen, mask, memory_mask, past=past, bias=bias)
            traces.append(trace)
        if self.final_norm is not None:
            stream, _ = self.final_norm(stream)
        return stream, DecoderTrace(tuple(traces))
