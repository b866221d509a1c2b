"""Is an answer right? Quiz items and predictions, graded against the file's answer or a run's own values."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass

from engine.contract.message import Message, say
from engine.contract.report import Scalar
from tutor.course.answers import read_number, read_shape, same_text
from tutor.course.model import Answer, Option, Predict, Quiz, Values
from tutor.course.quotes import look_up, write

Given = str | Iterable[str]


@dataclass(frozen=True)
class Verdict:
    """How a quiz answer was judged. `right` is None when it could not be read (`problem` says why) or compared yet.

    `correct` is the right answer as text; `why` explains the option that was chosen, `explain` the question.
    """

    right: bool | None
    correct: str = ""
    why: str = ""
    explain: str = ""
    problem: Message | None = None


@dataclass(frozen=True)
class Outcome:
    """How a prediction compares with what happened. `hit` is None when it could not be read or nothing has run yet.

    `actual` is what happened, as text; `error` is predicted − actual for numbers.
    """

    hit: bool | None
    actual: str = ""
    error: float | None = None
    why: str = ""
    problem: Message | None = None


def shown_options(question: Quiz | Predict, salt: str) -> tuple[Option, ...]:
    """Return the options in the order to show them: shuffled, and always the same for the same salt."""
    options = list(question.options)
    if question.type != "direction":
        random.Random(f"{question.id} {salt}").shuffle(options)
    return tuple(options)


def grade_quiz(quiz: Quiz, answer: Given, values: Values | None = None) -> Verdict:
    """Judge an answer: an option's value, several for type "multi", or the text typed for the other types."""
    truth = _truth(quiz, values or {})
    if truth is None:
        return Verdict(None, problem=say("There is nothing to compare with yet; run the lab first."))
    correct = _shown(quiz, truth)
    if quiz.type == "multi":
        chosen = {answer} if isinstance(answer, str) else set(answer)
        whys = " ".join(option.why for option in quiz.options if option.value in chosen and option.why)
        return Verdict(chosen == set(_several(truth)), correct, whys, quiz.explain)
    given = answer if isinstance(answer, str) else ", ".join(answer)
    problem = _unreadable(quiz, given, truth)
    if problem is not None:
        return Verdict(None, problem=problem)
    return Verdict(_agrees(quiz, given, truth), correct, _why(quiz.options, given), quiz.explain)


def grade_prediction(predict: Predict, answer: str, values: Values) -> Outcome:
    """Compare a prediction with the values of the lesson's runs (lab block id → values)."""
    truth = _truth(predict, values)
    problem = _unreadable(predict, answer, truth)
    if problem is not None or truth is None:
        return Outcome(None, problem=problem)
    error = None
    if predict.type == "number" and isinstance(truth, (int, float)):
        error = (read_number(answer) or 0.0) - truth
    return Outcome(_agrees(predict, answer, truth), _shown(predict, truth), error, _why(predict.options, answer))


def right_answer(question: Quiz | Predict, values: Values) -> str:
    """Return the right answer as a learner reads it; "" while the run that gives it has not been made."""
    truth = _truth(question, values)
    return "" if truth is None else _shown(question, truth)


def _truth(question: Quiz | Predict, values: Values) -> Answer:
    """Return the right answer; None when it is a run's value and the run has not been made."""
    if not question.answer_from:
        if question.answer is None and isinstance(question, Quiz) and question.accept:
            return question.accept[0]
        return question.answer
    lab, _, name = question.answer_from.partition(".")
    return _as_answer(look_up(name, values.get(lab, {})))


def _as_answer(value: Scalar | None) -> Answer:
    if isinstance(value, bool):
        return str(value).lower()
    return tuple(str(item) for item in value) if isinstance(value, list) else value


def _unreadable(question: Quiz | Predict, given: str, truth: Answer) -> Message | None:
    """Say why `given` is no answer to this type of question, or None when it is one."""
    if not given.strip():
        return say("Type an answer first.")
    if question.type == "number" and read_number(given) is None:
        return say("“{text}” is not a number; write 0.4, 2/5, 40% or 1e-5.", text=given.strip()[:40])
    if question.type == "shape" and truth is not None:
        wanted, found = len(_several(truth)), len(read_shape(given))
        if wanted != found:
            return say("The answer has {wanted} numbers, yours has {found}.", wanted=wanted, found=found)
    if question.options and given not in [option.value for option in question.options]:
        return say("“{text}” is none of the options.", text=given.strip()[:40])
    return None


def _agrees(question: Quiz | Predict, given: str, truth: Answer) -> bool:
    if question.type == "number":
        number = read_number(given)
        if number is None or not isinstance(truth, (int, float)) or not math.isfinite(truth):
            return False
        return abs(number - truth) <= question.tolerance + 1e-9 * abs(truth)
    if question.type == "shape":
        blanks = [blank.casefold() for blank in read_shape(given)]
        return blanks == [blank.casefold() for blank in _several(truth)]
    if question.type == "text":
        accepted = question.accept if isinstance(question, Quiz) and question.accept else _several(truth)
        return any(same_text(given, word) for word in accepted)
    return given in _several(truth)


def _several(truth: Answer) -> tuple[str, ...]:
    return truth if isinstance(truth, tuple) else (str(truth),)


def _why(options: tuple[Option, ...], given: str) -> str:
    return next((option.why for option in options if option.value == given), "")


def _shown(question: Quiz | Predict, truth: Answer) -> str:
    """Return the right answer as a learner reads it: the option's text, the number, the shape."""
    texts = [option.text for option in question.options if option.value in _several(truth)]
    if texts:
        return "; ".join(texts)
    if isinstance(truth, float):
        return write(truth, ".4g")
    return ", ".join(truth) if isinstance(truth, tuple) else str(truth)
