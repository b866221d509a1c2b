"""How many weights the blocks have: of the model at hand, and of the Transformer of the paper (base size)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from engine.contract.message import say
from engine.contract.report import Column, Scalar, Table
from engine.labs.enc_dec.passes import Model
from engine.layers.transformer import Transformer


@dataclass(frozen=True)
class Sizes:
    """Numbers of weights of one encoder block, one decoder block, and all blocks without the embeddings."""

    encoder_block: int
    decoder_block: int
    body: int


def of(model: Transformer) -> Sizes:
    """Count one model."""
    encoder, decoder = model.encoder, model.decoder
    return Sizes(count(encoder.blocks[0]), count(decoder.blocks[0]), count(encoder) + count(decoder))


def base() -> Sizes:
    """Count the paper's base model: d = 512, 8 heads, 6 layers, inner width 2048; nothing is allocated."""
    with torch.device("meta"):
        return of(Transformer(1, 1, 512, 8, 6, 2048))


def torch_base() -> int:
    """Count nn.Transformer at its defaults, which adds a norm at the end of each stack."""
    return count(nn.Transformer(batch_first=True, device="meta"))


def count(module: nn.Module) -> int:
    """Return how many numbers a module learns."""
    return sum(parameter.numel() for parameter in module.parameters())


def table(model: Model) -> Table:
    """Return this model beside the paper's."""
    ours, paper = of(model.exact), base()
    rows = (
        (say("encoder block"), ours.encoder_block, paper.encoder_block),
        (say("decoder block"), ours.decoder_block, paper.decoder_block),
        (say("all blocks"), ours.body, paper.body),
        (say("nn.Transformer, two norms more"), None, torch_base()),
    )
    columns = (Column(say("part")), Column(say("this model"), ",d"), Column(say("base size"), ",d"))
    return Table("sizes", say("Numbers to learn, without embeddings"), columns, rows)


def values(model: Model) -> dict[str, Scalar]:
    """Return the counts."""
    ours, paper = of(model.exact), base()
    return {
        "weights_encoder_block": ours.encoder_block,
        "weights_decoder_block": ours.decoder_block,
        "base_encoder_block": paper.encoder_block,
        "base_decoder_block": paper.decoder_block,
        "base_body": paper.body,
        "base_torch": torch_base(),
    }
