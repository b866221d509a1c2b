"""Panels to draw, shared by the tests of pictures and figures."""

from __future__ import annotations

import array
import math
import random
from collections.abc import Sequence
from typing import Literal

from engine.contract.message import Message, say
from engine.contract.report import Array, Curves, Detail, Heatmap, Series
from tutor.i18n import translate
from tutor.terminal import Depth, Terminal

ENGLISH = ["The", "cat", "sat", "on", "the₂", "mat"]
CHINESE = ["我", "们", "喜欢", "在", "咖啡馆", "里", "看", "书", "🐱", "写", "代码", "。"]

TERMINALS = [
    Terminal(Depth.TRUE),
    Terminal(Depth.ANSI256),
    Terminal(Depth.ANSI16),
    Terminal(Depth.NONE),
    Terminal(Depth.NONE, unicode=False),
    Terminal(Depth.TRUE, unicode=False),
]


def english(message: Message) -> str:
    return translate(message, "en")


def chinese(message: Message) -> str:
    return translate(message, "zh")


def matrix(rows: Sequence[Sequence[float]]) -> Array:
    numbers = array.array("d", [value for row in rows for value in row])
    return Array("float64", (len(rows), len(rows[0]) if rows else 0), numbers.tobytes())


def vector(values: Sequence[float]) -> Array:
    return Array("float64", (len(values),), array.array("d", values).tobytes())


def attention(rows: int, columns: int | None = None, seed: int = 0) -> list[list[float]]:
    """Rows that sum to 1, like those of a softmax."""
    generator = random.Random(seed)
    weights = []
    for _ in range(rows):
        row = [math.exp(generator.gauss(0, 2)) for _ in range(columns or rows)]
        weights.append([value / sum(row) for value in row])
    return weights


def heatmap(
    rows: Sequence[Sequence[float]],
    labels: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    scale: Literal["sequential", "diverging"] = "sequential",
    ends: tuple[float, float] = (0.0, 1.0),
    details: tuple[Detail, ...] = (),
    id: str = "weights",
    group: str = "",
) -> Heatmap:
    return Heatmap(
        id,
        say("{n} tokens", n=len(rows)),
        matrix(rows),
        tuple(labels),
        tuple(labels if columns is None else columns),
        say("Queries"),
        say("Keys"),
        ends[0],
        ends[1],
        scale,
        group,
        details,
    )


def curves(series: dict[str, Sequence[float]], x: Sequence[float], log_y: bool = False, log_x: bool = False) -> Curves:
    return Curves(
        "loss",
        say("{n} tokens", n=len(x)),
        vector(x),
        tuple(Series(say("{name}", name=name), vector(y)) for name, y in series.items()),
        say("step"),
        say("loss"),
        log_x,
        log_y,
    )
