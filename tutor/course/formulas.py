"""The formulas of a step's prose, with their lines."""

from __future__ import annotations

from dataclasses import dataclass

from tutor.course.model import Prose, Step
from tutor.text.extract import take_out


@dataclass(frozen=True)
class Formula:
    """A formula: `display` for one that stands alone, and the line it begins on."""

    tex: str
    display: bool
    line: int


def formulas(step: Step) -> list[Formula]:
    """Return the formulas of all prose of `step`, in order."""
    found = []
    for block in step.blocks:
        if isinstance(block, Prose):
            position = 0
            for piece in take_out(block.source).pieces:
                at = block.source.find(piece.source, position)
                position = max(at, position)
                if piece.kind != "quote":
                    line = block.line + block.source.count("\n", 0, position)
                    found.append(Formula(piece.body, piece.kind == "display", line))
                position += len(piece.source)
    return found
