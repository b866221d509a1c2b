"""The encoder–decoder of the lab (Bahdanau, Cho and Bengio, 2014), with and without its attention.

    h_j   = encoder of x_1 … x_S                     (…, S, d_h)
    s_0   = tanh(W_0 · mean_j h_j)                   (…, H)
    ctx_t = attention of s_{t−1} over the h_j        (…, d_h)
    s_t   = GRU(s_{t−1}, [emb(y_{t−1}); ctx_t])      (…, H)
    z_t   = W_o [s_t; ctx_t]                         (…, V), the logits of y_t

Without attention ctx_t is left out on both lines, and s_0 is all the decoder ever knows of the source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.layers.additive_attention import AdditiveAttention
from engine.layers.bidirectional import Bidirectional
from engine.layers.decoding import generate, greedy
from engine.layers.gru import GRU
from engine.layers.learned import LearnedPositions
from engine.layers.start import embedding, linear

EMBEDDING = 16


@dataclass(frozen=True)
class Memory:
    """What the decoder can look at: states h_j (…, S, d_h), which of them are real (…, S), and W_h h_j, once."""

    states: Tensor
    kept: Tensor
    keys: Tensor | None


@dataclass(frozen=True)
class Decoded:
    """Logits (…, T, V) and, with attention, its weights (…, T, S)."""

    logits: Tensor
    weights: Tensor | None


class EmbeddingEncoder(nn.Module):
    """Word and place, added: h_j = E[x_j] + P[j]; no word knows its neighbours."""

    def __init__(self, longest: int, generator: torch.Generator) -> None:
        super().__init__()
        self.positions = LearnedPositions(longest, EMBEDDING, std=0.1, generator=generator)

    def forward(self, embedded: Tensor, kept: Tensor) -> Tensor:
        """Return the states (…, S, d) of embedded words (…, S, d)."""
        states: Tensor = embedded + self.positions(embedded.shape[-2])
        return states


class GRUEncoder(nn.Module):
    """Reads from the left, or from both sides (d_h = 2H)."""

    def __init__(self, hidden: int, both: bool, generator: torch.Generator) -> None:
        super().__init__()
        ahead = GRU(EMBEDDING, hidden, generator=generator)
        self.layer = Bidirectional(ahead, GRU(EMBEDDING, hidden, generator=generator)) if both else ahead

    def forward(self, embedded: Tensor, kept: Tensor) -> Tensor:
        """Return the states (…, S, d_h) of embedded words (…, S, d)."""
        states: Tensor
        states, _ = self.layer(embedded, kept) if isinstance(self.layer, Bidirectional) else self.layer(embedded)
        return states


class Seq2seq(nn.Module):
    """Encoder, start, attention (or none) and decoder; `longest` is the longest source the positions cover."""

    def __init__(
        self,
        sources: int,
        targets: int,
        *,
        encoder: str,
        hidden: int,
        attention: bool,
        longest: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.source = embedding(sources, EMBEDDING, generator=generator)
        self.encoder: nn.Module
        if encoder == "embedding":
            self.encoder, width = EmbeddingEncoder(longest, generator), EMBEDDING
        else:
            both = encoder == "bi-gru"
            self.encoder, width = GRUEncoder(hidden, both, generator), hidden * (2 if both else 1)
        self.start = linear(width, hidden, generator=generator)
        self.target = embedding(targets, EMBEDDING, generator=generator)
        self.attention = AdditiveAttention(hidden, width, hidden, generator=generator) if attention else None
        seen = width if attention else 0  # the width of ctx
        self.decoder = GRU(EMBEDDING + seen, hidden, generator=generator)
        self.output = linear(hidden + seen, targets, generator=generator)

    def read(self, tokens: Tensor, kept: Tensor) -> tuple[Memory, Tensor]:
        """Encode sources (…, S); return the memory and s_0 (…, H)."""
        states = self.encoder(self.source(tokens), kept)  # (…, S, d_h)
        real = kept.unsqueeze(-1)  # (…, S, 1)
        mean = (states * real).sum(-2) / real.sum(-2)  # (…, d_h)
        keys = None if self.attention is None else self.attention.keys(states)
        return Memory(states, kept, keys), torch.tanh(self.start(mean))

    def step(self, token: Tensor, state: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        """Write one token: from y_{t−1} (…) and s_{t−1} return the logits (…, V), s_t and the weights (…, S)."""
        seen, weights = self.target(token), None  # (…, d)
        looked: tuple[Tensor, ...] = ()
        if self.attention is not None:
            context, trace = self.attention(state, memory.states, memory.kept, keys=memory.keys)  # (…, d_h)
            looked, weights = (context,), trace.weights
        new = self.decoder.step(self.decoder.project(torch.cat((seen, *looked), dim=-1)), state).hidden  # (…, H)
        return self.output(torch.cat((new, *looked), dim=-1)), new, weights

    def forward(self, tokens: Tensor, kept: Tensor, targets: Tensor, begin: int) -> Decoded:
        """Decode with teacher forcing: before y_t (…, T) comes the right y_{t−1}, `begin` before the first."""
        memory, state = self.read(tokens, kept)
        previous = torch.full_like(targets[..., 0], begin)
        logits, weights = [], []
        for target in targets.unbind(-1):
            scores, state, looked = self.step(previous, state, memory)
            logits.append(scores)
            weights.append(looked)
            previous = target
        return Decoded(torch.stack(logits, dim=-2), stack_weights(weights))

    @torch.no_grad()
    def write(
        self, tokens: Tensor, kept: Tensor, length: int, begin: int, stop: int | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Decode greedily until every text has written `stop`, or `length` tokens: (…, T) and the weights (…, T, S)."""
        memory, first = self.read(tokens, kept)
        weights: list[Tensor | None] = []

        def step(last: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
            logits, new, looked = self.step(last[..., -1], first if state is None else state, memory)
            weights.append(looked)
            return logits, new

        prompt = torch.full_like(tokens[..., :1], begin)
        written = list(generate(step, prompt, length, greedy, stop=stop))
        return torch.stack(written, dim=-1), stack_weights(weights)


def stack_weights(weights: list[Tensor | None]) -> Tensor | None:
    """Put the weights of the steps, each (…, S), together: (…, T, S); None without attention."""
    known = [looked for looked in weights if looked is not None]
    return torch.stack(known, dim=-2) if known else None


def same_decoder(build: Callable[[bool], Seq2seq]) -> bool:
    """Tell whether the decoders with and without attention differ in the width of their input alone."""
    on, off = build(True), build(False)
    shapes = [
        {name: tuple(part.shape) for name, part in model.decoder.named_parameters() if name != "input_weight"}
        for model in (on, off)
    ]
    inputs = [model.decoder.input_weight.shape for model in (on, off)]
    return shapes[0] == shapes[1] and inputs[0][0] == inputs[1][0] and inputs[1][1] == EMBEDDING
