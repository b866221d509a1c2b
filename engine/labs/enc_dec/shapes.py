"""The shapes of everything a pass goes through, read off its trace."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.report import Column, Heatmap, Table
from engine.labs.base import array, counted
from engine.labs.enc_dec.passes import Model
from engine.layers.multi_head import MultiHeadTrace
from engine.layers.transformer import TransformerTrace

Row = tuple[Message, str, Message]


def table(model: Model, trace: TransformerTrace, logits: Tensor) -> Table:
    """Return one row per tensor, from the tokens to the logits; blocks are alike, so one of each stack is shown."""
    columns = (Column(say("tensor")), Column(say("its shape")), Column(say("meaning")))
    rows = (*_encoder(model, trace), *_decoder(model, trace, logits))
    return Table("shapes", say("Every shape of one pass"), columns, rows)


def _encoder(model: Model, trace: TransformerTrace) -> Iterator[Row]:
    block = trace.encoder.blocks[0]
    embedded = model.exact.embed(model.exact.source_table, model.source)
    yield say("source tokens"), _shape(model.source), say("(S)")
    yield say("E[source]·√d + PE"), _shape(embedded), say("(S, d)")
    yield from _attention(block.attention, say("encoder: queries"), say("encoder: scores"), say("(heads, S, S)"))
    yield say("encoder: inside the FFN"), _shape(block.feed_forward.activated), say("(S, 4d)")
    yield (
        say("memory (the encoder's output)"),
        _shape(trace.memory),
        say("(S, d), keys and values of every decoder block"),
    )


def _decoder(model: Model, trace: TransformerTrace, logits: Tensor) -> Iterator[Row]:
    block = trace.decoder.blocks[0]
    embedded = model.exact.embed(model.exact.target_table, model.target)
    yield say("target, shifted by one"), _shape(model.target), say("(T)")
    yield say("E[target]·√d + PE"), _shape(embedded), say("(T, d)")
    own, cross = block.self_attention, block.cross_attention
    yield from _attention(own, say("decoder: queries"), say("decoder: scores, causal"), say("(heads, T, T)"))
    yield from _attention(cross, say("cross: queries"), say("cross: scores"), say("(heads, T, S)"))
    yield say("cross: keys"), _shape(cross.key), say("(heads, S, d_k)")
    yield say("decoder: inside the FFN"), _shape(block.feed_forward.activated), say("(T, 4d)")
    yield say("logits"), _shape(logits), say("(T, V)")


def _attention(trace: MultiHeadTrace, queries: Message, scores: Message, meaning: Message) -> Iterator[Row]:
    yield queries, _shape(trace.query), say("(heads, tokens, d_k)")
    yield scores, _shape(trace.scores), meaning


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape))


def maps(trace: TransformerTrace) -> tuple[Heatmap, Heatmap, Heatmap]:
    """Return the attention of the last blocks, the mean of their heads: encoder, decoder, cross."""
    encoder, decoder = trace.encoder.blocks[-1], trace.decoder.blocks[-1]
    return (
        _map("encoder-self", say("Encoder self-attention"), encoder.attention, "s", "s"),
        _map("decoder-self", say("Decoder self-attention, causal"), decoder.self_attention, "t", "t"),
        _map("cross", say("Cross-attention: target looks at source"), decoder.cross_attention, "t", "s"),
    )


def _map(id: str, title: Message, trace: MultiHeadTrace, row: str, column: str) -> Heatmap:
    weights = trace.weights.mean(0)
    rows, columns = counted(row, weights.shape[0]), counted(column, weights.shape[1])
    axes = say("queries"), say("keys")
    return Heatmap(id, title, array(weights), rows, columns, *axes, 0.0, 1.0, group="maps")
