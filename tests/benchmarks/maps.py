"""Attention maps to draw, the same ones for the product and its anchor."""

from __future__ import annotations

import array
import math
import random

from engine.contract.message import say
from engine.contract.report import Array, Heatmap

MARKER = "PAINTMARK"
COUNT = 8
LABELS = ("The", "old", "cat", "sat", "down", "on", "the", "red", "mat", "and", "slept", "well")


def weights(side: int, number: int) -> list[list[float]]:
    """Return a matrix whose rows sum to 1, like those of a softmax."""
    generator = random.Random(number)
    rows = []
    for _ in range(side):
        row = [math.exp(generator.gauss(0, 1.5)) for _ in range(side)]
        rows.append([value / sum(row) for value in row])
    return rows


def matrices(side: int) -> list[list[list[float]]]:
    """Return what is shown in turn, made before anything is measured."""
    return [weights(side, number) for number in range(COUNT)]


def panel(matrix: list[list[float]]) -> Heatmap:
    """Return a matrix as a lab's panel, with tokens as labels where they are enough."""
    side = len(matrix)
    numbers = array.array("d", [value for row in matrix for value in row])
    labels = LABELS[:side] if side <= len(LABELS) else ()
    values = Array("float64", (side, side), numbers.tobytes())
    return Heatmap("map", say(MARKER), values, labels, labels, say("query"), say("key"), 0.0, 1.0)
