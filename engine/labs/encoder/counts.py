"""Where the weights of the encoder are: attention, feed-forward, norms, embeddings."""

from __future__ import annotations

from torch import nn

from engine.contract.message import say
from engine.contract.report import Column, Scalar, Table
from engine.labs.base import close
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View


def view(look: Look) -> View:
    """Return the breakdown as a table and values, and the formula checked against the layers themselves."""
    reader, shape = look.reader, look.reader.shape
    block = reader.blocks[0]
    attention, feed_forward = weights(block.attention), weights(block.feed_forward)
    norms = weights(block.attention_norm) + weights(block.feed_forward_norm)
    in_block = attention + feed_forward + norms
    table = weights(reader.table)
    positions = weights(reader.learned) if reader.learned is not None else 0
    final = weights(reader.encoder.final_norm) if reader.encoder.final_norm is not None else 0
    total = shape.layers * in_block + table + positions + final
    rows = (
        (say("attention of a layer, 4d² + 4d"), attention, attention / in_block),
        (say("feed-forward of a layer, 2ed² + (e + 1)d"), feed_forward, feed_forward / in_block),
        (say("norms of a layer, 4d"), norms, norms / in_block),
        (say("one layer"), in_block, 1.0),
        (say("{layers} layers", layers=shape.layers), shape.layers * in_block, None),
        (say("final norm (pre-norm only)"), final, None),
        (say("embeddings of {count} tokens", count=reader.table.num_embeddings), table, None),
        (say("learned positions"), positions, None),
        (say("all"), total, None),
    )
    title = say("Numbers to learn: d = {width}, e = {expansion}", width=shape.width, expansion=shape.expansion)
    columns = (Column(say("part")), Column(say("parameter count"), ",d"), Column(say("share of a layer"), ".1%"))
    values: dict[str, Scalar] = {
        "weights_layer": in_block,
        "weights_attention": attention,
        "weights_feed_forward": feed_forward,
        "weights_norms": norms,
        "weights_embeddings": table + positions,
        "weights_all": total,
        "feed_forward_share": feed_forward / in_block,
    }
    counted = max(abs(weights(own) - shape.block_weights) for own in reader.blocks)
    name = say("a layer has 4d² + 4d + 2ed² + (e + 1)d + 4d weights (e = 4: 12d² + 13d)")
    invariants = (close(name, counted + abs(weights(reader) - total), 0.0),)
    return View((Table("weights", title, columns, rows),), values, invariants)


def weights(module: nn.Module) -> int:
    """Return how many numbers a module learns."""
    return sum(parameter.numel() for parameter in module.parameters())
