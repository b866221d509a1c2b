"""The models have as many weights as the published ones; counted on the meta device, where nothing is allocated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from engine.layers.bert import BERT, MaskedWordHead, bert_base
from engine.layers.decoder import DecoderBlock
from engine.layers.encoder import EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.gpt import gpt2
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.residual import Order, post_norm, pre_norm
from engine.layers.t5 import t5_small
from engine.layers.transformer import Transformer


def count(build: Callable[[], nn.Module]) -> int:
    """Return the number of weights; shared ones count once."""
    with torch.device("meta"):
        module = build()
    assert all(parameter.is_meta for parameter in module.parameters())
    return sum(parameter.numel() for parameter in module.parameters())


def body(order: Order) -> nn.Module:
    """The Transformer-base without its embeddings."""
    model = Transformer(1, 1, 512, 8, 6, 2048, order=order)
    return nn.ModuleList([model.encoder, model.decoder])


def encoder_block(width: int) -> EncoderBlock:
    return EncoderBlock(MultiHeadAttention(width, 8), FeedForward(width, 4 * width), lambda: LayerNorm(width))


def decoder_block(width: int) -> DecoderBlock:
    attentions = MultiHeadAttention(width, 8), MultiHeadAttention(width, 8)
    return DecoderBlock(*attentions, FeedForward(width, 4 * width), lambda: LayerNorm(width))


@pytest.mark.parametrize(
    ("build", "published"),
    [(bert_base, 109_482_240), (gpt2, 124_439_808), (t5_small, 60_506_624)],
    ids=["BERT-base", "GPT-2", "T5-small"],
)
def test_published_models(build: Callable[[], nn.Module], published: int) -> None:
    assert count(build) == published


def test_bert_base_with_its_masked_word_head() -> None:
    def build() -> nn.Module:
        return MaskedWordHead(BERT(30_522, 768, 12, 12, 512))

    assert count(build) == 30_522 * 768 + (768 * 768 + 768) + 2 * 768 + 30_522


def test_transformer_base_body() -> None:
    assert count(lambda: body(pre_norm)) == 44_140_544
    assert count(lambda: body(post_norm)) == 44_140_544 - 2 * 2 * 512  # the paper's stacks have no norm on top
    assert count(lambda: nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)) == 44_140_544


def test_blocks_of_the_lesson() -> None:
    assert count(lambda: encoder_block(512)) == 3_152_384
    assert count(lambda: decoder_block(512)) == 4_204_032
    assert count(lambda: encoder_block(64)) == 12 * 64**2 + 13 * 64 == 49_984
