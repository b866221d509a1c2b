"""What each family may see: the rule as a matrix, and what a layer with that rule really depends on."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.gradients.influence import influence
from engine.labs.base import Context
from engine.layers.attention import causal_mask
from engine.layers.multi_head import MultiHeadAttention

WIDTH, HEADS = 8, 2


def rule(family: str, read: int, said: int = 0) -> Tensor:
    """Return who may see whom, boolean (n, n), rows see columns; T5 reads `read` tokens and says `said` after them."""
    if family == "BERT":
        return torch.ones(read, read, dtype=torch.bool)
    if family == "GPT":
        return causal_mask(read)
    top = torch.cat([torch.ones(read, read, dtype=torch.bool), torch.zeros(read, said, dtype=torch.bool)], dim=1)
    bottom = torch.cat([torch.ones(said, read, dtype=torch.bool), causal_mask(said)], dim=1)
    return torch.cat([top, bottom])  # (read + said, read + said)


def dependence(family: str, read: int, said: int, context: Context) -> Tensor:
    """Return how much each output of one untrained layer of the family depends on each input, (n, n)."""

    def attention(name: str) -> MultiHeadAttention:
        return MultiHeadAttention(WIDTH, HEADS, generator=context.generator(name), dtype=torch.float64)

    look = attention("self-attention")
    masks = {"BERT": None, "GPT": causal_mask(read)}

    def one_stack(stream: Tensor) -> Tensor:
        seen, _ = look(stream, masks[family])  # (…, n, width)
        output: Tensor = stream + seen
        return output

    def two_stacks(both: Tensor) -> Tensor:
        source, target = both[..., :read, :], both[..., read:, :]
        encoded = source + look(source)[0]  # (…, read, width)
        spoken = target + attention("decoder")(target, causal_mask(said))[0]  # (…, said, width)
        spoken = spoken + attention("cross-attention")(spoken, memory=encoded)[0]
        return torch.cat([encoded, spoken], dim=-2)

    inputs = context.normal("inputs", read + said, WIDTH)
    compute = two_stacks if family == "T5" else one_stack
    return influence(compute, inputs, context.generator("mixture"))
