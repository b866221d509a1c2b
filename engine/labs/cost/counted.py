"""What the formulas are held against: operations counted while our own layers run, weights of layers as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from engine.flops import count_flops
from engine.labs.cost.formulas import Layer
from engine.layers.bert import bert_base
from engine.layers.decoder import DecoderBlock
from engine.layers.encoder import EncoderBlock
from engine.layers.feed_forward import FeedForward
from engine.layers.gru import GRU
from engine.layers.lstm import LSTM
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.residual import pre_norm
from engine.layers.rnn import RNN
from engine.layers.transformer import Transformer

LONGEST, WIDEST = 128, 256  # what is counted is really computed: larger sizes are counted at these
STEPS = 16  # a recurrent layer does the same at every step


@dataclass(frozen=True)
class Counted:
    """Operations by part, bytes of scores and cache, and the size they were counted at (`steps` of a recurrent net)."""

    size: Layer
    steps: Layer
    parts: dict[str, int]
    score_bytes: int
    cache_bytes: int


def count(layer: Layer, generator: torch.Generator) -> Counted:
    """Run our layers at `layer`'s size, or at the largest that takes no time, and count."""
    n, d = min(layer.n, LONGEST), min(layer.d, WIDEST)
    heads = layer.heads if d % layer.heads == 0 else 1  # their number does not matter for the operations
    size, steps = Layer(n, d, layer.expansion, heads), Layer(min(n, STEPS), d)
    tokens = torch.randn(n, d, generator=generator)
    attention = MultiHeadAttention(d, heads, generator=generator)
    feed_forward = FeedForward(d, layer.expansion * d, generator=generator)
    with torch.no_grad():
        _, trace = attention(tokens)
        products = count_flops(lambda: trace.query @ trace.key.mT)
        parts = {
            "attention": count_flops(lambda: attention(tokens)),
            "scores": products,
            "mixing": count_flops(lambda: trace.weights @ trace.value),
            "feed_forward": count_flops(lambda: feed_forward(tokens)),
            "rnn": count_flops(lambda: RNN(d, d, generator=generator)(tokens[: steps.n])),
            "gru": count_flops(lambda: GRU(d, d, generator=generator)(tokens[: steps.n])),
            "lstm": count_flops(lambda: LSTM(d, d, generator=generator)(tokens[: steps.n])),
        }
    score_bytes = trace.scores.numel() * trace.scores.element_size()
    cache_bytes = (trace.key.numel() + trace.value.numel()) * trace.key.element_size()
    return Counted(size, steps, parts, score_bytes, cache_bytes)


def counter_on_modules(size: Layer) -> dict[str, int]:
    """Return what torch's counter sees of torch's own modules at a small size, forward only."""
    tokens = torch.zeros(1, size.n, size.d)
    inner = size.expansion * size.d
    encoder = nn.TransformerEncoderLayer(size.d, size.heads, inner, dropout=0.0, batch_first=True)
    lstm, rnn = nn.LSTM(size.d, size.d, batch_first=True), nn.RNN(size.d, size.d, batch_first=True)
    seen = {"encoder_train": count_flops(lambda: encoder.train()(tokens))}
    with torch.no_grad():
        seen["encoder_eval"] = count_flops(lambda: encoder.eval()(tokens))
        seen["lstm"] = count_flops(lambda: lstm(tokens))
        seen["rnn"] = count_flops(lambda: rnn(tokens))
    return seen


def parameter_count(build: Callable[[], nn.Module]) -> int:
    """Return how many numbers a module learns; it is built without memory."""
    with torch.device("meta"):
        module = build()
    return sum(parameter.numel() for parameter in module.parameters())


def layer_weights(d: int, heads: int, expansion: int) -> dict[str, int]:
    """Return the weights of one layer of each kind, counted."""

    def attention() -> MultiHeadAttention:
        return MultiHeadAttention(d, heads)

    def feed_forward() -> FeedForward:
        return FeedForward(d, expansion * d)

    def norm() -> LayerNorm:
        return LayerNorm(d)

    return {
        "rnn": parameter_count(lambda: RNN(d, d)),
        "gru": parameter_count(lambda: GRU(d, d)),
        "lstm": parameter_count(lambda: LSTM(d, d)),
        "encoder": parameter_count(lambda: EncoderBlock(attention(), feed_forward(), norm)),
        "decoder": parameter_count(lambda: DecoderBlock(attention(), attention(), feed_forward(), norm)),
        "feed_forward": parameter_count(feed_forward),
    }


def known_weights() -> dict[str, int]:
    """Return the weights of two small stacks that are often compared, and of two published models."""

    def base() -> nn.Module:
        model = Transformer(1, 1, 512, 8, 6, 2048, order=pre_norm)  # with a norm on top of each stack, as torch's
        return nn.ModuleList([model.encoder, model.decoder])

    def encoders() -> nn.Module:
        return nn.ModuleList(
            EncoderBlock(MultiHeadAttention(256, 8), FeedForward(256, 1024), lambda: LayerNorm(256)) for _ in range(6)
        )

    return {
        "lstm_1024_2": parameter_count(lambda: nn.ModuleList([LSTM(1024, 1024), LSTM(1024, 1024)])),
        "encoder_256_6": parameter_count(encoders),
        "base": parameter_count(base),
        "base_feed_forward": 12 * parameter_count(lambda: FeedForward(512, 2048)),
        "bert": parameter_count(bert_base),
        "bert_feed_forward": 12 * parameter_count(lambda: FeedForward(768, 3072)),
    }
