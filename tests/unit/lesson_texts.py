"""What the tests of the lessons read out of their prose."""

from __future__ import annotations

import re

import torch

from tests.unit.test_lessons import lesson
from tutor.course.model import Prose


def prose(slug: str, step_id: str, language: str) -> str:
    """Return the Markdown of a step without its question and lab blocks."""
    step = lesson(slug, language).step(step_id)
    assert step is not None
    return "\n".join(block.source for block in step.blocks if isinstance(block, Prose))


def matrices(tex: str) -> list[torch.Tensor]:
    r"""Return the matrices of formulas, `\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}`, in order, float64."""
    found = re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", tex, re.DOTALL)
    rows = [[[float(n) for n in row.split("&")] for row in body.split(r"\\")] for body in found]
    return [torch.tensor(matrix, dtype=torch.float64) for matrix in rows]


def table(markdown: str, number: int = 0) -> list[list[str]]:
    """Return the cells of the rows of the step's table with this number, without its head."""
    tables = re.findall(r"(?:^\|.*\|$\n?)+", markdown, re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[number].splitlines()]
    return rows[2:]


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell; a minus sign may be typographic."""
    return [float(found) for found in re.findall(r"-?\d*\.?\d+", cell.replace("−", "-"))]
