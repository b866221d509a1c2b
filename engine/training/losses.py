"""A loss as a sum and a count, so that losses of unequal batches can be put together (see accumulation.py)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from engine.layers.loss import IGNORED, cross_entropy


@dataclass(frozen=True)
class Loss:
    """`total`, the sum of the losses of `count` targets (tokens, sequences), a scalar in nats."""

    total: Tensor
    count: int


def classification(logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, ignored: int = IGNORED) -> Loss:
    """Return the cross-entropy of logits (…, K) against class numbers (…); `ignored` targets do not count."""
    _, trace = cross_entropy(logits, targets, smoothing=smoothing, ignored=ignored)
    return Loss(trace.losses.sum(), int(trace.counted.sum()))
