"""Answers of quiz items, recomputed: a lesson names a function of this table, it never carries code.

What needs arithmetic only runs without torch; shapes are read off real tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from engine.contract.labs.sdpa import CAFE_WEIGHTS

Answer = bool | int | float | str | list[int] | list[float]


def softmax(scores: Sequence[float]) -> list[float]:
    """Return exp(s_i) / Σ exp(s_j)."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]


def entropy(weights: Sequence[float]) -> float:
    """Return −Σ p ln p with 0·ln 0 = 0, in nats."""
    return sum(-p * math.log(p) for p in weights if p > 0)


def attention_shapes() -> list[int]:
    """Q08-3: the shapes of scores and output for Q (2, 3, 8), K (2, 5, 8), V (2, 5, 6)."""
    import torch

    from engine.layers.attention import attend

    output, trace = attend(torch.zeros(2, 3, 8), torch.zeros(2, 5, 8), torch.zeros(2, 5, 6))
    return [*trace.scores.shape, *output.shape]


def head_shapes() -> list[int]:
    """Q09-1: the shapes after splitting into heads and of the weights for B = 2, T = 5, d = 32, A = 4."""
    import torch

    from engine.layers.multi_head import MultiHeadAttention

    _, trace = MultiHeadAttention(32, 4)(torch.zeros(2, 5, 32))
    return [*trace.query.shape, *trace.weights.shape]


def impossible_heads(width: int, offered: Sequence[int]) -> int:
    """Return the one number of heads among `offered` that does not divide the width."""
    (heads,) = (heads for heads in offered if width % heads)
    return heads


ANSWERS: dict[str, Callable[[], Answer]] = {
    "q08_1": lambda: sum(CAFE_WEIGHTS),
    "q08_1_largest": lambda: max(CAFE_WEIGHTS) / sum(CAFE_WEIGHTS),
    "q08_3": attention_shapes,
    "q08_4": lambda: softmax([0.0, 0.0, math.log(2)])[2],
    "q08_5": lambda: entropy([0.0, 1.0, 0.0, 0.0]),
    "q09_1": head_shapes,
    "q09_2": lambda: 4 * 64 * 64,
    "q09_5": lambda: impossible_heads(256, (1, 3, 4, 8)),
    "q09_6": lambda: min(32, 64 // 16),
}


def compute(name: str) -> Answer:
    """Return the answer called `name`; raise LookupError when there is none."""
    if name not in ANSWERS:
        raise LookupError(f"there is no quiz answer called {name!r}")
    return ANSWERS[name]()
