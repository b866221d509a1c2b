"""What the tutor remembers of a learner, as plain records.

Events (answers, predictions, runs) carry a random `uid`, so that writing or importing one twice keeps one. Times are
aware and in UTC. JSON values are null, booleans, numbers (also NaN and infinities), strings, lists and objects.
"""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Moment = Annotated[datetime, Meta(tz=True)]


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(timezone.utc)


def new_uid() -> str:
    """Return 32 random hexadecimal digits."""
    return os.urandom(16).hex()


class Position(Struct, frozen=True):
    """The step that was open last."""

    lesson: str
    step: str
    at: Moment = field(default_factory=now)


class StepVisit(Struct, frozen=True):
    """When a step was first and last open, and when it was first finished (None: not yet)."""

    lesson: str
    step: str
    first_at: Moment = field(default_factory=now)
    last_at: Moment = field(default_factory=now)
    finished_at: Moment | None = None


class Answer(Struct, frozen=True):
    """One attempt at a quiz item; `answer` is the JSON value that was given.

    `lesson` and `step` are those of the item, also when it is asked again elsewhere.
    """

    lesson: str
    step: str
    quiz: str
    answer: Any
    right: bool
    at: Moment = field(default_factory=now)
    uid: str = field(default_factory=new_uid)


class Prediction(Struct, frozen=True):
    """One prediction before a run: what was expected, how sure in percent, and what the lab then said."""

    lesson: str
    step: str
    predict: str
    answer: Any
    confidence: Annotated[int, Meta(ge=0, le=100)] | None
    outcome: Literal["hit", "miss", "skipped"]
    actual: Any = None
    at: Moment = field(default_factory=now)
    uid: str = field(default_factory=new_uid)


class Run(Struct, frozen=True):
    """One finished run of a lab; `lesson` and `step` are None outside a lesson."""

    lab: str
    params: dict[str, Any]
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    device: str
    seconds: float
    values: dict[str, Any]
    lesson: str | None = None
    step: str | None = None
    at: Moment = field(default_factory=now)
    uid: str = field(default_factory=new_uid)


class Setting(Struct, frozen=True):
    """A choice of the learner (language, theme, a bench's last parameters) as a JSON value."""

    key: str
    value: Any
    at: Moment = field(default_factory=now)


class LessonProgress(Struct, frozen=True):
    """How far a lesson has come; an item tried several times counts once, with its latest outcome.

    `predictions_made` leaves out the skipped ones. `last_visit` is None when no step was opened.
    """

    steps_seen: int = 0
    steps_finished: int = 0
    quizzes_answered: int = 0
    quizzes_right: int = 0
    predictions_made: int = 0
    predictions_hit: int = 0
    last_visit: datetime | None = None


Record = Position | StepVisit | Answer | Prediction | Run | Setting
