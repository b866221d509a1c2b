"""Questions apart from the screen: their words, what a learner has done with them, and how that becomes a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.contract.message import Message, say
from tutor.course.model import Option, Predict, Quiz, Values
from tutor.progress.records import Answer, Prediction

if TYPE_CHECKING:
    from tutor.course.grade import Given, Outcome, Verdict

Translate = Callable[[Message], str]
CONFIDENCES = (50, 60, 70, 80, 90, 99)


@dataclass
class QuestionState:
    """What the learner has done with a question: the answer in progress, and how it ended.

    A quiz item goes from "open" to "done"; a prediction passes through "sure" and "waiting" (for its run).
    """

    draft: str = ""
    chosen: set[str] = field(default_factory=set)
    cursor: int = 0
    confidence: int = 2
    stage: str = "open"
    right: bool | None = None
    refusal: Message | None = None
    given: Given = ""
    actual: Any = None


@dataclass(frozen=True)
class QuestionText:
    """The words of a question in one language, its options in the order shown; `kind` is that of the lesson file."""

    id: str
    kind: str
    ask: str
    options: tuple[Option, ...] = ()
    predicts: bool = False
    verdict: str = ""


def words(block: Quiz | Predict, state: QuestionState, values: Values, tr: Translate) -> QuestionText:
    """Return the words of `block`, with its verdict when it is done."""
    from tutor.course.grade import shown_options

    options = shown_options(block, "1")
    predicts = isinstance(block, Predict)
    verdict = ""
    if state.stage == "done":
        verdict = (
            _prediction_verdict(block, state, tr)
            if isinstance(block, Predict)
            else _quiz_verdict(block, state, values, tr)
        )
    return QuestionText(block.id, block.type, block.ask, options, predicts, verdict)


def judge_quiz(block: Quiz, state: QuestionState, given: Given, values: Values) -> Verdict:
    """Judge an answer and note it in `state`; an answer that cannot be read is refused and stays open."""
    from tutor.course.grade import grade_quiz

    verdict = grade_quiz(block, given, values)
    if verdict.right is None:
        state.refusal = verdict.problem
        return verdict
    state.stage, state.right, state.given = "done", verdict.right, given
    return verdict


def judge_prediction(block: Predict, state: QuestionState, values: Values) -> Outcome:
    """Compare the prediction in `state` with what happened, and note it; without a run it goes on waiting."""
    from tutor.course.grade import grade_prediction

    outcome = grade_prediction(block, _text(state.given), values)
    if outcome.hit is None:
        if outcome.problem is not None:
            state.stage, state.refusal = "open", outcome.problem
        return outcome
    state.stage, state.right, state.actual = "done", outcome.hit, _option_value(block, outcome.actual)
    return outcome


def restore_answer(state: QuestionState, answer: Answer) -> None:
    """Put `state` back to an answer given earlier."""
    given = answer.answer if isinstance(answer.answer, str) else tuple(answer.answer or ())
    state.stage, state.right, state.given = "done", answer.right, given
    state.chosen = {given} if isinstance(given, str) else set(given)
    state.draft = given if isinstance(given, str) else ""


def restore_prediction(state: QuestionState, prediction: Prediction) -> None:
    """Put `state` back to a prediction made earlier."""
    state.stage = "done"
    state.right = {"hit": True, "miss": False}.get(prediction.outcome)
    state.given = str(prediction.answer or "")
    state.actual = prediction.actual
    if prediction.confidence in CONFIDENCES:
        state.confidence = CONFIDENCES.index(prediction.confidence)


def _quiz_verdict(block: Quiz, state: QuestionState, values: Values, tr: Translate) -> str:
    from tutor.course.grade import grade_quiz

    verdict = grade_quiz(block, state.given, values)
    sentences = [verdict.why]
    if not state.right and verdict.correct:
        sentences.append(tr(say("Right would be: {correct}", correct=verdict.correct)) + tr(say(".")))
    sentences.append(verdict.explain)
    return _joined(sentences)


def _prediction_verdict(block: Predict, state: QuestionState, tr: Translate) -> str:
    actual = _option_text(block, str(state.actual)) if state.actual is not None else ""
    if state.right is None:
        line = tr(say("Not predicted."))
    else:
        percent = CONFIDENCES[state.confidence]
        given = _option_text(block, _text(state.given))
        line = tr(say("My prediction: {given} ({percent} % sure).", given=given, percent=percent))
    result = tr(say("Result: {actual}.", actual=actual)) if actual else ""
    return _joined([line, result, block.explain])


def _joined(sentences: list[str]) -> str:
    """Return the sentences as one text; after a full-width mark there is no space."""
    text = ""
    for sentence in filter(None, sentences):
        text += ("" if not text or text[-1] in "。！？；：" else " ") + sentence
    return text


def _option_text(block: Predict, value: str) -> str:
    return next((option.text for option in block.options if option.value == value), value)


def _option_value(block: Predict, text: str) -> str:
    """Return the value of the option that reads `text`, which is the same in both languages; else `text`."""
    return next((option.value for option in block.options if option.text == text), text)


def _text(given: Given) -> str:
    return given if isinstance(given, str) else ", ".join(given)
