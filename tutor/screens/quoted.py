"""Runs that nobody looks at: labs whose numbers a step's prose quotes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.contract.labs import UnknownLab, declaration
from engine.contract.parameters import InvalidParameters, build, to_plain
from engine.contract.protocol import Failed
from engine.contract.report import Partial, Progress, Report
from tutor.course.model import LabBlock
from tutor.lesson_session import LessonSession
from tutor.runs import Request

if TYPE_CHECKING:
    from tutor.app import TutorApp


class Quoted:
    """Takes the result of one lab of the lesson into the session."""

    def __init__(self, session: LessonSession, block: LabBlock, then: Callable[[], None]) -> None:
        self._session, self._block, self._then = session, block, then

    def run_finished(self, report: Report) -> None:
        """Keep the values and have the prose show them."""
        self._session.note_report(self._block, report)
        self._then()

    def run_started(self, device: str) -> None:
        """Nothing to show."""

    def run_progressed(self, progress: Progress) -> None:
        """Nothing to show."""

    def run_partial(self, partial: Partial) -> None:
        """Nothing to show."""

    def run_failed(self, failure: Failed) -> None:
        """The place in the prose keeps its `…`."""


def run_quoted(tutor: TutorApp, session: LessonSession, then: Callable[[], None]) -> None:
    """Ask for the runs whose values the open step quotes and nobody has made, after everything visible."""
    for block in session.missing_labs():
        request = own_request(block, tutor.language, tutor.opening.device)
        if request is not None:
            tutor.runs.ask(request, Quoted(session, block, then), urgent=False)


def own_request(block: LabBlock, language: str, device: str) -> Request | None:
    """Return the run of a lesson's lab with the lesson's own parameters; None when they are refused (lint says why)."""
    try:
        params = build(declaration(block.name).parameters, block.params, language)
    except (InvalidParameters, UnknownLab):
        return None
    return Request(block.name, to_plain(params), block.seed, device, language)
