"""Claims of a lesson about its labs: `[[assert]]` entries, checked against the values of a run."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping

from engine.contract.message import say
from engine.contract.report import Scalar
from tutor.course.model import Assertion, Fault, LabBlock, Lesson, Predict, Quiz, Values
from tutor.course.quotes import look_up

_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def assertions(lesson: Lesson) -> Iterator[tuple[LabBlock, Assertion]]:
    """Yield every assertion of the lesson with the lab block it belongs to."""
    for lab in lesson.labs:
        for claim in lab.asserts:
            yield lab, claim


def check_run(lesson: Lesson, values: Values) -> Iterator[Fault]:
    """Yield what a lesson claims and its runs (lab block id → values) do not bear out.

    Assertions hold, every quoted value exists, and every value that answers a question fits the question.
    """
    for lab, claim in assertions(lesson):
        if fault := check_assert(claim, values.get(lab.id, {}), lesson.file):
            yield fault
    for step in lesson.steps:
        for quote in step.quotes():
            if look_up(quote.value, values.get(quote.lab, {})) is None:
                yield Fault(
                    lesson.file, quote.line, say("The run has no value “{value}”.", value=f"{quote.lab}.{quote.value}")
                )
        questions: tuple[Predict | Quiz, ...] = (*step.predictions, *step.quizzes)
        for question in questions:
            if question.answer_from and not question.answer_from.startswith("quiz."):
                yield from _answered(lesson, question, values)


def _answered(lesson: Lesson, question: Predict | Quiz, values: Values) -> Iterator[Fault]:
    lab, _, name = question.answer_from.partition(".")
    value = look_up(name, values.get(lab, {}))
    if value is None:
        yield Fault(lesson.file, question.line, say("The run has no value “{value}”.", value=question.answer_from))
    elif question.type == "number" and not _is_number(value):
        yield Fault(lesson.file, question.line, say("“{value}” is no number.", value=question.answer_from))
    elif question.options and _written(value) not in [option.value for option in question.options]:
        yield Fault(
            lesson.file,
            question.line,
            say(
                "{value} is “{actual}”, which is none of the options.",
                value=question.answer_from,
                actual=_written(value),
            ),
        )


def _written(value: Scalar) -> str:
    """Return a value as the options of a question write it: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_assert(claim: Assertion, values: Mapping[str, Scalar], file: str = "") -> Fault | None:
    """Return what is wrong when `claim` does not hold of a run's values, else None.

    `==` and `!=` compare numbers within the tolerance (exactly, without one); `~` is nearness within the tolerance.
    """
    value = look_up(claim.value, values)
    if value is None:
        known = ", ".join(sorted(values))
        return Fault(
            file, claim.line, say("The run has no value “{value}”; it has: {known}.", value=claim.value, known=known)
        )
    if holds(value, claim):
        return None
    return Fault(
        file,
        claim.line,
        say(
            "{value} is {actual}, but the lesson claims {relation} {bound}.",
            value=claim.value,
            actual=str(value),
            relation=claim.relation,
            bound=_bound(claim),
        ),
    )


def holds(value: Scalar, claim: Assertion) -> bool:
    """Tell whether `value` stands in the claimed relation to the bound; NaN stands in none but `!=`."""
    if claim.relation in ("==", "~"):
        return _near(value, claim.bound, claim.tolerance)
    if claim.relation == "!=":
        return not _near(value, claim.bound, claim.tolerance)
    if not _is_number(value) or not _is_number(claim.bound):
        return False
    return bool(_ORDER[claim.relation](value, claim.bound))


def _near(value: object, bound: object, tolerance: float) -> bool:
    if isinstance(value, (list, tuple)) and isinstance(bound, (list, tuple)):
        return len(value) == len(bound) and all(
            _near(item, wanted, tolerance) for item, wanted in zip(value, bound, strict=True)
        )
    if isinstance(value, (int, float)) and isinstance(bound, (int, float)) and _is_number(value) and _is_number(bound):
        return value == bound or (math.isfinite(value) and abs(value - bound) <= tolerance)
    return type(value) is type(bound) and value == bound


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _bound(claim: Assertion) -> str:
    return f"{claim.bound} ± {claim.tolerance}" if claim.tolerance else str(claim.bound)
