"""The encoder block and the stack of them (Vaswani et al., Attention Is All You Need, 2017, section 3.1).

    x ← self-attention of x, with residual and norm         tokens look at each other
    x ← feed-forward of x, with residual and norm           each token thinks by itself

The block takes its parts and the order of residual and norm (see residual.py), so that the Transformer's encoder, BERT,
GPT (with a causal mask) and T5 are made of it. Dropout acts on the output of each sublayer, before the residual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from engine.layers.feed_forward import FeedForward, FeedForwardTrace
from engine.layers.multi_head import KeyValues, MultiHeadAttention, MultiHeadTrace
from engine.layers.residual import Order, post_norm


@dataclass(frozen=True)
class EncoderBlockTrace:
    """The traces of both sublayers, the stream after the first (`attended`) and after the second (`output`); these two
    are (…, n, width)."""

    attention: MultiHeadTrace
    attended: Tensor
    feed_forward: FeedForwardTrace
    output: Tensor


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward; `norm` builds the norm of each sublayer."""

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: FeedForward,
        norm: Callable[[], nn.Module],
        *,
        order: Order = post_norm,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = norm()
        self.feed_forward = feed_forward
        self.feed_forward_norm = norm()
        self.dropout = nn.Dropout(dropout)
        self.order = order

    def forward(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        *,
        past: KeyValues | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, EncoderBlockTrace]:
        """Return the new stream (…, n, width) and the trace; the options are those of MultiHeadAttention."""

        def look(stream: Tensor) -> tuple[Tensor, MultiHeadTrace]:
            output, trace = self.attention(stream, mask, past=past, rotate=rotate, bias=bias)
            return self.dropout(output), trace

        def think(stream: Tensor) -> tuple[Tensor, FeedForwardTrace]:
            output, trace = self.feed_forward(stream)
            return self.dropout(output), trace

        attended, attention = self.order(inputs, look, self.attention_norm)
        output, feed_forward = self.order(attended, think, self.feed_forward_norm)
        return output, EncoderBlockTrace(attention, attended, feed_forward, output)


@dataclass(frozen=True)
class EncoderTrace:
    """The traces of the blocks, first to last."""

    blocks: tuple[EncoderBlockTrace, ...]

    @property
    def cache(self) -> tuple[KeyValues, ...]:
        """The keys and values of every block: what the next call takes as `cache`."""
        return tuple(block.attention.key_values for block in self.blocks)


class Encoder(nn.Module):
    """Blocks one after the other, and a norm on top where their order wants one (pre-norm)."""

    def __init__(self, blocks: Iterable[EncoderBlock], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = final_norm

    def forward(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        *,
        cache: Sequence[KeyValues] | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, EncoderTrace]:
        """Return the states (…, n, width) and the trace; `cache` holds what each block saw before these inputs."""
        stream, traces = inputs, []
        for index, block in enumerate(self.blocks):
            past = None if cache is None else cache[index]
            stream, trace = block(stream, mask, past=past, rotate=rotate, bias=bias)
            traces.append(trace)
        if self.final_norm is not None:
            stream, _ = self.final_norm(stream)
        return stream, EncoderTrace(tuple(traces))
