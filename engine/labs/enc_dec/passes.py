"""A small Transformer on random tokens, read in all the ways that the lab compares.

parallel    the whole target at once, as in training (teacher forcing)
stepwise    every prefix of it again, the last position kept, as in generation
cached      one token at a time, keys and values of the past and of the memory remembered
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.enc_dec import EncDecParams
from engine.labs.base import Context
from engine.layers.transformer import Transformer, TransformerTrace

VOCABULARY = 20
EXPANSION = 4


@dataclass(frozen=True)
class Model:
    """The Transformer in float64, in float32 and (float64, float32) without positions, all with the same weights; the
    source (S,) and the target inputs (T,)."""

    exact: Transformer
    single: Transformer
    placeless: Transformer
    placeless_single: Transformer
    source: Tensor
    target: Tensor


def draw(params: EncDecParams, context: Context) -> Model:
    """Return the model and tokens of the parameters."""
    generator = context.generator("weights")
    sizes = (VOCABULARY, VOCABULARY, params.d, params.heads, params.layers, EXPANSION * params.d)
    single = Transformer(*sizes, generator=generator).eval()
    placeless_single = deepcopy(single)
    placeless_single.positions = False
    exact, placeless = deepcopy(single).double(), deepcopy(placeless_single).double()
    tokens = context.generator("tokens")
    source = torch.randperm(VOCABULARY, generator=tokens)[: params.src]  # all different, so that their order matters
    target = torch.randperm(VOCABULARY, generator=tokens)[: params.tgt]
    return Model(exact, single, placeless, placeless_single, source, target)


def parallel(model: Transformer, source: Tensor, target: Tensor) -> tuple[Tensor, TransformerTrace]:
    """Return the logits (T, V) of one pass and its trace."""
    logits: Tensor
    trace: TransformerTrace
    logits, trace = model(source, target)
    return logits, trace


def stepwise(model: Transformer, memory: Tensor, target: Tensor) -> Tensor:
    """Return the logits (T, V), each from a pass over the prefix that ends there."""
    return torch.stack([model.decode(target[:end], memory)[0][-1] for end in range(1, len(target) + 1)])


def cached(model: Transformer, memory: Tensor, target: Tensor) -> Tensor:
    """Return the logits (T, V), each from one new token and what was remembered."""
    logits, cache = [], None
    for token in target[:, None]:
        new, trace = model.decode(token, memory, cache=cache)  # (1, V)
        cache = trace.cache
        logits.append(new)
    return torch.cat(logits)


def states(model: Transformer, memory: Tensor, target: Tensor, mask: Tensor | None) -> Tensor:
    """Return the decoder's states (T, width) under any mask, none included."""
    found, _ = model.decoder(model.embed(model.target_table, target), memory, mask)
    result: Tensor = found
    return result
