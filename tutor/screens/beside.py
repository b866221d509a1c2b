"""What stands beside a step's text: its lab, or the lesson's steps. Imported after the first frame, for it is heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.contract.labs import declaration
from engine.contract.parameters import defaults
from tutor.widgets.lab_panel import LabPanel, LabSetup
from tutor.widgets.outline import Outline

if TYPE_CHECKING:
    from tutor.app import TutorApp
    from tutor.course.model import LabBlock
    from tutor.lesson_session import LessonSession


def beside(session: LessonSession, tutor: TutorApp, *, id: str) -> LabPanel | Outline:
    """Return the lab of the open step, or the outline of the lesson where the step has none."""
    block = session.step.lab
    if block is None:
        return Outline(session, id=id)
    panel = LabPanel(_setup(block, session, tutor))
    panel.id = id
    return panel


def _setup(block: LabBlock, session: LessonSession, tutor: TutorApp) -> LabSetup:
    values = {**defaults(declaration(block.name).parameters, tutor.language), **dict(block.params)}
    questions = tuple((session.words(p, tutor.tr), session.state(p.id)) for p in session.step.predictions)
    return LabSetup(block.name, values, block.seed, block.notice, questions)
