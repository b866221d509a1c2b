"""The labs of a lesson with the lesson's own parameters."""

from __future__ import annotations

from typing import Any

from engine.contract.labs import UnknownLab, declaration
from engine.contract.parameters import InvalidParameters, build, to_plain
from tutor.cli.errors import UsageError
from tutor.course.model import LabBlock


def own_params(block: LabBlock, language: str) -> dict[str, Any]:
    """Return the parameters of a lesson's lab, filled up with the defaults; raise UsageError when they are refused."""
    try:
        return to_plain(build(declaration(block.name).parameters, block.params, language))
    except InvalidParameters as refused:
        problem = refused.problems[0]
        raise UsageError(problem.message, problem.field, "invalid") from None
    except UnknownLab as unknown:
        raise UsageError(unknown.message, "lab", "unknown-lab") from None
