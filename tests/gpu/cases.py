"""One piece of work for every layer of the engine, named by the module it is in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.layers import activations, reversible
from engine.layers.additive_attention import AdditiveAttention
from engine.layers.alibi import alibi
from engine.layers.attention import attend, causal_mask
from engine.layers.bert import BERT, MaskedWordHead, Pooler
from engine.layers.bidirectional import Bidirectional
from engine.layers.decoder import Decoder, DecoderBlock
from engine.layers.decoding import generate, greedy, next_token_probabilities, sampled
from engine.layers.encoder import Encoder, EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.gpt import GPT
from engine.layers.gru import GRU
from engine.layers.hashing import same_bucket
from engine.layers.learned import LearnedPositions
from engine.layers.loss import IGNORED, cross_entropy
from engine.layers.lstm import LSTM
from engine.layers.masks import continued_causal_mask, local_causal_mask, padding_mask
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm, RMSNorm
from engine.layers.online_softmax import attend_in_blocks
from engine.layers.positional import sinusoidal
from engine.layers.relative_bias import RelativeBias
from engine.layers.residual import pre_norm
from engine.layers.rnn import RNN
from engine.layers.rotary import rotary
from engine.layers.segment_memory import read_in_segments
from engine.layers.shared_slice import SharedSliceAttention
from engine.layers.streaming_attention import attention_picture
from engine.layers.t5 import T5
from engine.layers.transformer import Transformer
from tests.gpu.comparison import Build, Call, Place, Work

BATCH, LENGTH, WIDTH, HEADS, WORDS = 3, 40, 32, 4, 50


def _rnn(place: Place) -> Work:
    return Call(place.put(RNN(WIDTH, 24, generator=place.generator)), place.normal(BATCH, LENGTH, WIDTH))


def _lstm(place: Place) -> Work:
    return Call(place.put(LSTM(WIDTH, 24, generator=place.generator)), place.normal(BATCH, LENGTH, WIDTH))


def _gru(place: Place) -> Work:
    return Call(place.put(GRU(WIDTH, 24, generator=place.generator)), place.normal(BATCH, LENGTH, WIDTH))


def _bidirectional(place: Place) -> Work:
    ahead, back = (LSTM(WIDTH, 24, generator=place.generator) for _ in range(2))
    kept = torch.arange(LENGTH) < torch.tensor([[LENGTH], [LENGTH - 9], [5]])
    return Call(place.put(Bidirectional(ahead, back)), place.normal(BATCH, LENGTH, WIDTH), kept.to(place.device))


def _additive(place: Place) -> Work:
    layer = place.put(AdditiveAttention(20, WIDTH, 16, generator=place.generator))
    mask = place.mask(BATCH, LENGTH)  # the first sentence has no position left
    return Call(layer, place.normal(BATCH, 20), place.normal(BATCH, LENGTH, WIDTH), mask)


def _attention(place: Place) -> Work:
    query, key, value = (place.normal(BATCH, HEADS, LENGTH, 8) for _ in range(3))
    mask = place.mask(LENGTH, LENGTH)
    return lambda: (attend(query, key, value, mask), attend(query * 1e3, key, value, causal_mask(LENGTH, place.device)))


def _multi_head(place: Place) -> Work:
    layer = place.put(MultiHeadAttention(WIDTH, HEADS, d_v=5, generator=place.generator))
    return Call(layer, place.normal(BATCH, LENGTH, WIDTH), place.mask(LENGTH, LENGTH))


def _rotary(place: Place) -> Work:
    layer = place.put(MultiHeadAttention(WIDTH, HEADS, generator=place.generator))
    return Call(layer, place.normal(BATCH, LENGTH, WIDTH), rotate=rotary)


def _alibi(place: Place) -> Work:
    layer = place.put(MultiHeadAttention(WIDTH, HEADS, generator=place.generator))
    bias = alibi(HEADS, LENGTH, LENGTH).float().to(place.device)
    return Call(layer, place.normal(BATCH, LENGTH, WIDTH), bias=bias)


def _relative_bias(place: Place) -> Work:
    return Call(place.put(RelativeBias(HEADS, both_sides=True, generator=place.generator)), LENGTH, 3 * LENGTH)


def _learned(place: Place) -> Work:
    return Call(place.put(LearnedPositions(LENGTH, WIDTH, generator=place.generator)), LENGTH - 3, 2)


def _positional(place: Place) -> Work:
    return lambda: sinusoidal(LENGTH, WIDTH + 1).to(place.device)


def _masks(place: Place) -> Work:
    kept = place.mask(BATCH, LENGTH)
    return lambda: (
        padding_mask(kept),
        continued_causal_mask(7, 5, place.device),
        local_causal_mask(LENGTH, 4, place.device),
    )


def _feed_forward(place: Place) -> Work:
    layer = FeedForward(WIDTH, 4 * WIDTH, activation=activations.gelu_tanh, generator=place.generator)
    return Call(place.put(layer), place.normal(BATCH, LENGTH, WIDTH))


def _activations(place: Place) -> Work:
    values = 4 * place.normal(1000)
    return lambda: (activations.relu(values), activations.gelu(values), activations.gelu_tanh(values))


def _normalization(place: Place) -> Work:
    inputs = 100 + place.normal(BATCH, LENGTH, WIDTH)
    layer_norm, rms_norm = place.put(LayerNorm(WIDTH)), place.put(RMSNorm(WIDTH))
    return lambda: (layer_norm(inputs), rms_norm(inputs))


def _block(place: Place) -> EncoderBlock:
    attention = MultiHeadAttention(WIDTH, HEADS, generator=place.generator)
    feed_forward = FeedForward(WIDTH, 2 * WIDTH, generator=place.generator)
    return EncoderBlock(attention, feed_forward, lambda: LayerNorm(WIDTH), order=pre_norm)


def _encoder(place: Place) -> Work:
    stack = Encoder([_block(place), _block(place)], LayerNorm(WIDTH))
    return Call(place.put(stack), place.normal(BATCH, LENGTH, WIDTH), causal_mask(LENGTH, place.device))


def _decoder(place: Place) -> Work:
    look, across = (MultiHeadAttention(WIDTH, HEADS, generator=place.generator) for _ in range(2))
    feed_forward = FeedForward(WIDTH, 2 * WIDTH, generator=place.generator)
    stack = Decoder([DecoderBlock(look, across, feed_forward, lambda: LayerNorm(WIDTH))])
    target, memory = place.normal(BATCH, 11, WIDTH), place.normal(BATCH, LENGTH, WIDTH)
    return Call(place.put(stack), target, memory, causal_mask(11, place.device))


def _shared_slice(place: Place) -> Work:
    layer = place.put(SharedSliceAttention(WIDTH, HEADS, generator=place.generator))
    return Call(layer, place.normal(BATCH, LENGTH, WIDTH))


def _transformer(place: Place) -> Work:
    model = place.put(Transformer(WORDS, WORDS, WIDTH, HEADS, 2, 2 * WIDTH, generator=place.generator))
    kept = torch.arange(LENGTH) < torch.tensor([[LENGTH], [9], [LENGTH - 1]])
    return Call(model, place.tokens(WORDS, BATCH, LENGTH), place.tokens(WORDS, BATCH, 9), kept.to(place.device))


def _bert(place: Place) -> Work:
    model = BERT(WORDS, WIDTH, HEADS, 2, LENGTH, generator=place.generator)
    head, pooler = MaskedWordHead(model, generator=place.generator), Pooler(WIDTH, generator=place.generator)
    for part in (model, head, pooler):
        place.put(part)
    tokens = place.tokens(WORDS, BATCH, LENGTH)

    def work() -> Any:
        states, trace = model(tokens)
        return head(states), pooler(states), trace

    return work


def _gpt(place: Place) -> Work:
    model = place.put(GPT(WORDS, WIDTH, HEADS, 2, LENGTH, generator=place.generator))
    return Call(model, place.tokens(WORDS, BATCH, LENGTH))


def _t5(place: Place) -> Work:
    model = place.put(T5(WORDS, WIDTH, HEADS, 8, 2, 2 * WIDTH, generator=place.generator))
    return Call(model, place.tokens(WORDS, BATCH, LENGTH), place.tokens(WORDS, BATCH, 9))


def _decoding(place: Place) -> Work:
    model = place.put(GPT(WORDS, WIDTH, HEADS, 2, LENGTH, generator=place.generator))
    prompt = place.tokens(WORDS, BATCH, 4)
    logits = place.normal(BATCH, WORDS)

    def work() -> Any:
        draw = sampled(top_k=5, generator=torch.Generator().manual_seed(3))
        return (
            list(generate(model.step, prompt, 10, greedy)),
            next_token_probabilities(logits, temperature=0.7, top_k=9, top_p=0.8),
            draw(logits),
        )

    return work


def _loss(place: Place) -> Work:
    targets = place.tokens(WORDS, BATCH, LENGTH)
    targets[0, :5] = IGNORED
    logits = place.normal(BATCH, LENGTH, WORDS)
    return lambda: (cross_entropy(logits, targets), cross_entropy(logits, targets, smoothing=0.1))


def _online_softmax(place: Place) -> Work:
    query, key, value = (place.normal(HEADS, LENGTH, 8) for _ in range(3))
    mask = place.mask(LENGTH, LENGTH)
    return lambda: [attend_in_blocks(query, key, value, block, mask) for block in (1, 7, 64)]


def _streaming_attention(place: Place) -> Work:
    query, key = place.normal(2, 500, 16), place.normal(2, 500, 16)
    return lambda: [
        attention_picture(query, key, 60, pool="max", causal=True),
        attention_picture(query, key, 60, pool="mean"),
    ]


def _segment_memory(place: Place) -> Work:
    layers = [place.put(MultiHeadAttention(WIDTH, HEADS, generator=place.generator)) for _ in range(2)]
    inputs = place.normal(LENGTH, WIDTH)
    return lambda: read_in_segments(layers, inputs, 6, 8)


def _hashing(place: Place) -> Work:
    vectors, rotations = place.normal(60, 16), place.normal(3, 16, 4)
    return lambda: same_bucket(vectors, rotations)


def _reversible(place: Place) -> Work:
    first, second = place.normal(LENGTH, WIDTH), place.normal(LENGTH, WIDTH)

    def work() -> Any:
        outputs: tuple[Tensor, Tensor] = reversible.forward(first, second, torch.tanh, torch.sin)
        return outputs, reversible.backward(*outputs, torch.tanh, torch.sin)

    return work


CASES: dict[str, Build] = {
    "rnn": _rnn,
    "lstm": _lstm,
    "gru": _gru,
    "bidirectional": _bidirectional,
    "additive_attention": _additive,
    "attention": _attention,
    "multi_head": _multi_head,
    "rotary": _rotary,
    "alibi": _alibi,
    "relative_bias": _relative_bias,
    "learned": _learned,
    "positional": _positional,
    "masks": _masks,
    "feed_forward": _feed_forward,
    "activations": _activations,
    "normalization": _normalization,
    "encoder": _encoder,
    "decoder": _decoder,
    "shared_slice": _shared_slice,
    "transformer": _transformer,
    "bert": _bert,
    "gpt": _gpt,
    "t5": _t5,
    "decoding": _decoding,
    "loss": _loss,
    "online_softmax": _online_softmax,
    "streaming_attention": _streaming_attention,
    "segment_memory": _segment_memory,
    "hashing": _hashing,
    "reversible": _reversible,
}
"""Every module of `engine/layers` that computes; `PARTS` are used by these."""

PARTS = {"recurrent", "residual", "start"}
