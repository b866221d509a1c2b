"""The gradient of self-attention: from the output at one position to the input at every position.

For one head, with weights p of the position q, its output o = Σ_j p_j v_j and scores p = softmax(query · key_j / √d_k):

    ∂o/∂x_k = p_k W_V + p_k (v_k − o) (W_Kᵀ query_q)ᵀ / √d_k        for every k
            + Σ_j p_j (v_j − o) (W_Qᵀ key_j)ᵀ / √d_k                for k = q, through its query

and ∂y_q/∂x_k = Σ_heads W_O ∂o/∂x_k. The distance q − k occurs nowhere.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.layers.multi_head import MultiHeadAttention, MultiHeadTrace


@torch.no_grad()
def attention_jacobians(layer: MultiHeadAttention, trace: MultiHeadTrace, position: int = -1) -> Tensor:
    """Return ∂y_position/∂x_k for every k, (n, width, width), for one sentence that read itself.

    With or without a mask, but not for turned queries, a memory or a cache.
    """
    if trace.query.dim() != 3:
        raise ValueError(f"the queries have shape {tuple(trace.query.shape)}; this takes one sentence, (heads, n, d_k)")
    width = layer.output_weight.shape[0]
    query_weight = layer.query_weight.view(layer.heads, layer.d_k, width)
    key_weight = layer.key_weight.view(layer.heads, layer.d_k, width)
    value_weight = layer.value_weight.view(layer.heads, layer.d_v, width)
    output_weight = layer.output_weight.view(width, layer.heads, layer.d_v)
    weights = trace.weights[:, position]  # (heads, n)
    weighted = weights.unsqueeze(-1) * (trace.value - trace.head_outputs[:, position, None])  # (heads, n, d_v)
    weighted = weighted * (1 / math.sqrt(layer.d_k) if layer.scale is None else layer.scale)
    as_key = torch.einsum("hd,hdw->hw", trace.query[:, position], key_weight)  # (heads, width): W_Kᵀ query
    of_heads = torch.einsum("hn,hvw->hnvw", weights, value_weight) + weighted.unsqueeze(-1) * as_key[:, None, None]
    as_query = torch.einsum("hnd,hdw->hnw", trace.key, query_weight)  # (heads, n, width): W_Qᵀ key
    of_heads[:, position] += weighted.mT @ as_query  # (heads, d_v, width)
    return torch.einsum("ohv,hnvw->now", output_weight, of_heads)  # (n, width, width)
