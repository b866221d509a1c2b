"""The stacks that `norm-order` compares: the same weights, with residual and norm in four arrangements."""

from __future__ import annotations

import math

import torch
from torch import nn

from engine.contract.labs.norm_order import ORDER_LABELS, ORDERS
from engine.layers.encoder import Encoder, EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.residual import Order, no_norm, no_residual, post_norm, pre_norm
from engine.layers.start import fill_uniform

HEADS = 4
LABELS = dict(zip(ORDERS, ORDER_LABELS, strict=True))
SUFFIXES = {order: order.replace("-", "_") for order in ORDERS}  # of the values
ARRANGEMENTS: dict[str, Order] = {
    "post": post_norm,
    "pre": pre_norm,
    "no-residual": no_residual,
    "no-norm": no_norm,
}


def stack(order: str, layers: int, width: int, generator: torch.Generator) -> Encoder:
    """Return a stack with Xavier-uniform matrices; equal generators give equal weights in every order."""

    def norm() -> nn.Module:
        return nn.Identity() if order == "no-norm" else LayerNorm(width)

    def block() -> EncoderBlock:
        attention = MultiHeadAttention(width, HEADS, generator=generator)  # W_Q, W_K, W_V start Xavier-uniform, as one
        feed_forward = FeedForward(width, 4 * width, generator=generator)
        with torch.no_grad():
            for matrix in (attention.output_weight, feed_forward.expand.weight, feed_forward.contract.weight):
                fill_uniform(matrix, math.sqrt(6 / sum(matrix.shape)), generator)
        return EncoderBlock(attention, feed_forward, norm, order=ARRANGEMENTS[order])

    return Encoder((block() for _ in range(layers)), LayerNorm(width) if order == "pre" else None)
