"""One learner in one lesson: where they are, what they have answered, what the labs have found. No Textual here.

Everything a learner does is handed to the progress store at once; the returned futures say when it is durable.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from engine.contract.report import Report, Scalar
from tutor.course.catalog import Catalog
from tutor.course.model import LabBlock, Lesson, LessonInfo, Predict, Quiz, Step
from tutor.progress.records import Answer, Prediction
from tutor.progress.store import Store
from tutor.questions import (
    CONFIDENCES,
    QuestionState,
    QuestionText,
    Translate,
    judge_prediction,
    judge_quiz,
    restore_answer,
    restore_prediction,
    words,
)

if TYPE_CHECKING:
    from tutor.course.grade import Given


class LessonSession:
    """The state of an open lesson. `values` are the results of its labs with the lesson's own parameters."""

    def __init__(self, info: LessonInfo, catalog: Catalog, store: Store, language: str) -> None:
        self.info = info
        self._catalog = catalog
        self._store = store
        self.lesson: Lesson = catalog.lesson(info, language)
        self.index = 0
        self.values: dict[str, dict[str, Scalar]] = {}
        self._states: dict[str, QuestionState] = {}
        self._finished = {visit.step for visit in store.visits(info.id) if visit.finished_at is not None}
        for answer in store.answers(info.id):
            restore_answer(self.state(answer.quiz), answer)
        for prediction in store.predictions(info.id):
            restore_prediction(self.state(prediction.predict), prediction)

    # -- where one is -------------------------------------------------------------------------------------------

    @property
    def step(self) -> Step:
        """The open step."""
        return self.lesson.steps[self.index]

    def translate(self, language: str) -> None:
        """Go on in the other language, at the same step."""
        step = self.step.id
        self.lesson = self._catalog.lesson(self.info, language)
        self.index = self._position(step)

    def _position(self, step: str) -> int:
        return next((i for i, found in enumerate(self.lesson.steps) if found.id == step), 0)

    def open(self, step: str) -> Future[bool]:
        """Open the step called `step` (the first one if there is none) and remember it."""
        self.index = self._position(step)
        return self._store.remember_position(self.info.id, self.step.id)

    def resume_at(self) -> str:
        """Return the step to open when none was named: the last one visited, else the first."""
        visits = self._store.visits(self.info.id)
        return visits[-1].step if visits else ""

    def neighbour(self, by: int) -> str | None:
        """Return the id of the step `by` steps on, or None beyond the ends."""
        target = self.index + by
        return self.lesson.steps[target].id if 0 <= target < len(self.lesson.steps) else None

    def finish(self) -> Future[bool] | None:
        """Note the open step as finished, unless it is already or a question of it is open."""
        if self.step.id in self._finished or self.open_questions():
            return None
        self._finished.add(self.step.id)
        return self._store.finish_step(self.info.id, self.step.id)

    def is_finished(self, step: Step) -> bool:
        """Tell whether `step` was finished."""
        return step.id in self._finished

    # -- questions ----------------------------------------------------------------------------------------------

    def state(self, id: str) -> QuestionState:
        """Return what the learner has done with the question called `id`."""
        return self._states.setdefault(id, QuestionState())

    def words(self, block: Quiz | Predict, tr: Translate) -> QuestionText:
        """Return the words of a question, with its verdict when it is done."""
        return words(block, self.state(block.id), self.values, tr)

    def question(self, id: str) -> Quiz | Predict | None:
        """Return the question of the open step called `id`."""
        return next((question for question in self._questions() if question.id == id), None)

    def open_questions(self) -> list[Quiz | Predict]:
        """Return the questions of the open step that are not done."""
        return [question for question in self._questions() if self.state(question.id).stage != "done"]

    def _questions(self) -> list[Quiz | Predict]:
        return [*self.step.predictions, *self.step.quizzes]

    def answer(self, quiz: Quiz, given: Given) -> Future[bool] | None:
        """Judge a quiz answer and record it; None when it could not be read."""
        verdict = judge_quiz(quiz, self.state(quiz.id), given, self.values)
        if verdict.right is None:
            return None
        plain = given if isinstance(given, str) else list(given)
        return self._store.record_answer(Answer(self.info.id, self.step.id, quiz.id, plain, verdict.right))

    def predict(self, block: Predict, given: str) -> Future[bool] | None:
        """Take a prediction; it is judged (and recorded) now if it can be, else when its run is done."""
        state = self.state(block.id)
        state.given, state.stage = given, "waiting"
        return self.settle(block)

    def settle(self, block: Predict) -> Future[bool] | None:
        """Judge a waiting prediction against the values there are, and record it; None while it cannot be judged."""
        state = self.state(block.id)
        if state.stage != "waiting":
            return None
        outcome = judge_prediction(block, state, self.values)
        if outcome.hit is None:
            return None
        return self._store.record_prediction(
            Prediction(
                self.info.id,
                self.step.id,
                block.id,
                state.given,
                CONFIDENCES[state.confidence],
                "hit" if outcome.hit else "miss",
                state.actual,
            )
        )

    def skip(self, block: Predict) -> Future[bool]:
        """Note that the learner wants the result without predicting it."""
        state = self.state(block.id)
        state.stage, state.right = "done", None
        return self._store.record_prediction(
            Prediction(self.info.id, self.step.id, block.id, None, None, "skipped", None)
        )

    # -- results ------------------------------------------------------------------------------------------------

    def note_report(self, block: LabBlock, report: Report) -> None:
        """Keep what a lab of the lesson found with the lesson's own parameters."""
        self.values[block.id] = dict(report.values)

    def quotable(self) -> dict[str, dict[str, Scalar]]:
        """Return the values prose may quote now: not those of the open step's lab while its prediction waits."""
        lab = self.step.lab
        if lab is None or all(self.state(predict.id).stage == "done" for predict in self.step.predictions):
            return self.values
        return {id: values for id, values in self.values.items() if id != lab.id}

    def missing_labs(self) -> list[LabBlock]:
        """Return labs of other steps that this step's prose quotes and that have not run."""
        own = self.step.lab.id if self.step.lab else ""
        quoted = {quote.lab for quote in self.step.quotes()} - {own, ""} - self.values.keys()
        return [lab for lab in self.lesson.labs if lab.id in quoted]
