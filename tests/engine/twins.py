"""Copies the weights of torch.nn's Transformer parts into ours."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.layers.decoder import DecoderBlock
from engine.layers.encoder import EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm


@torch.no_grad()
def scramble(module: nn.Module, generator: torch.Generator) -> None:
    """Give every parameter, gains and biases included, a value that is not its start."""
    for parameter in module.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype), alpha=0.3)


@torch.no_grad()
def copy(pairs: list[tuple[Tensor | None, Tensor]]) -> None:
    """Copy the second of each pair into the first."""
    for ours, theirs in pairs:
        assert ours is not None
        ours.copy_(theirs)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy projections and biases."""
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    copy(list(zip((ours.query_weight, ours.key_weight, ours.value_weight), weights, strict=True)))
    copy(list(zip((ours.query_bias, ours.key_bias, ours.value_bias), biases, strict=True)))
    copy([(ours.output_weight, theirs.out_proj.weight), (ours.output_bias, theirs.out_proj.bias)])


def copy_norm(ours: nn.Module, theirs: nn.LayerNorm) -> None:
    """Copy gain and bias."""
    assert isinstance(ours, LayerNorm)
    copy([(ours.gain, theirs.weight), (ours.bias, theirs.bias)])


def copy_feed_forward(ours: FeedForward, expand: nn.Linear, contract: nn.Linear) -> None:
    """Copy both linear maps."""
    ours.expand.load_state_dict(expand.state_dict())
    ours.contract.load_state_dict(contract.state_dict())


def copy_encoder_block(ours: EncoderBlock, theirs: nn.TransformerEncoderLayer) -> None:
    """Copy a whole encoder layer."""
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs.linear1, theirs.linear2)
    copy_norm(ours.attention_norm, theirs.norm1)
    copy_norm(ours.feed_forward_norm, theirs.norm2)


def copy_decoder_block(ours: DecoderBlock, theirs: nn.TransformerDecoderLayer) -> None:
    """Copy a whole decoder layer."""
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs.linear1, theirs.linear2)
    copy_norm(ours.self_attention_norm, theirs.norm1)
    copy_norm(ours.cross_attention_norm, theirs.norm2)
    copy_norm(ours.feed_forward_norm, theirs.norm3)
