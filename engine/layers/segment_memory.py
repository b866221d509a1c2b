"""Attention over segments with a memory of the previous ones (Transformer-XL: Dai et al., 2019, section 3.2).

    h̃_ℓ = [Mem_ℓ; h_ℓ]            the last m states of this layer's input, from earlier segments, in front
    h_{ℓ+1} = h_ℓ + attention of h_ℓ to h̃_ℓ, causal

The memory is kept, not recomputed; in training no gradient flows into it (`detach`). A state in memory has itself seen
its whole segment so far and the memory before it, so the reach grows with every layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.layers.masks import continued_causal_mask
from engine.layers.multi_head import MultiHeadAttention


def read_in_segments(
    layers: Sequence[MultiHeadAttention],
    inputs: Tensor,
    segment: int,
    memory: int,
    *,
    detach: Callable[[Tensor], Tensor] = Tensor.detach,
) -> Tensor:
    """Return the states (…, n, width) of a sequence of that shape, read `segment` positions at a time.

    `memory` is the number m of states each layer keeps. `detach` stops the gradient at the memory; pass the identity
    to ask what the memory carries.
    """
    memories: list[Tensor] = [inputs[..., :0, :] for _ in layers]  # each (…, ≤ m, width)
    read = []
    for part in torch.split(inputs, segment, dim=-2):
        stream = part
        for index, layer in enumerate(layers):
            seen = torch.cat([memories[index], stream], dim=-2)  # (…, past + segment, width)
            mask = continued_causal_mask(memories[index].shape[-2], part.shape[-2], inputs.device)
            memories[index] = detach(seen[..., -memory:, :])
            output, _ = layer(stream, mask, memory=seen)
            stream = stream + output
        read.append(stream)
    return torch.cat(read, dim=-2)
