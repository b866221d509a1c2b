"""Lessons by the names people type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.contract.message import say
from tutor.cli.arguments import nearest
from tutor.cli.errors import UsageError

if TYPE_CHECKING:
    from tutor.course.catalog import Catalog
    from tutor.course.model import Place

COMMAND_NAMES = ("lessons", "labs", "show", "run", "probe", "view", "lint", "doctor")


def resolve(catalog: Catalog, name: str) -> Place:
    """Return the place that `name` means; raise UsageError with the nearest lesson, step or command."""
    from tutor.course.catalog import UnknownLesson

    try:
        return catalog.resolve(name)
    except UnknownLesson as unknown:
        message = unknown.message
        if close := nearest(name, COMMAND_NAMES):
            message = say(
                "There is no lesson or command “{name}”; did you mean `tutor {close}`?", name=name[:40], close=close
            )
        raise UsageError(message, "lesson", "unknown-lesson") from None
