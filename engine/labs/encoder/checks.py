"""What holds for every encoder and text of the lab, checked on this one: rows, masks, repeated passes."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.contract.message import say
from engine.contract.report import Invariant
from engine.labs.base import close, largest, more_than
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View
from engine.layers.encoder import EncoderTrace
from engine.tasks.vocabulary import PAD


def view(look: Look) -> View:
    """Return the invariants alone."""
    return View(invariants=(*_rows_and_passes(look), *_masks(look)))


def difference(one: EncoderTrace, other: EncoderTrace) -> float:
    """Return the largest difference of any weight of any layer and head."""
    pairs = zip(one.blocks, other.blocks, strict=True)
    return max(largest(a.attention.weights - b.attention.weights) for a, b in pairs)


def _rows_and_passes(look: Look) -> Iterator[Invariant]:
    states, first = look.read(1)
    again, second = look.read(2)
    sums = torch.stack([block.attention.weights.sum(-1) for block in first.blocks])
    yield close(say("every row of weights sums to 1, in every layer and head"), sums - 1, 1e-6)
    apart = max(largest(states - again), difference(first, second))
    if look.params.mode == "train" and look.params.dropout > 0:
        yield more_than(say("train mode: two passes differ"), apart, 0.0)
    else:
        yield close(say("two passes are identical"), apart, 0.0)
    same, _ = look.read(1)
    yield close(say("the same seed gives the same states"), same - states, 0.0)


@torch.no_grad()
def _masks(look: Look) -> Iterator[Invariant]:
    """Mask the last word, then put padding in its place: a mask that is dropped in any layer shows."""
    kept = torch.arange(len(look.words)) < len(look.words) - 1  # (n,)
    replaced = look.tokens.where(kept, PAD)
    states, trace = look.reader(look.tokens, kept)
    others, _ = look.reader(replaced, kept)
    on_masked = torch.stack([block.attention.weights[..., ~kept] for block in trace.blocks])
    yield close(say("a masked key has weight 0 in every layer"), on_masked, 0.0)
    yield close(say("another word at a masked place changes no other state"), (others - states)[kept], 0.0)
    free, _ = look.reader(look.tokens)
    freely, _ = look.reader(replaced)
    yield more_than(say("without the mask it changes them"), largest((free - freely)[kept]), 0.0)
