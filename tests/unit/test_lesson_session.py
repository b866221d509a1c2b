"""A learner in a lesson, without a screen: what is judged, what is kept, what prose may quote."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.contract.report import Report
from tutor.course.catalog import Catalog
from tutor.course.model import Predict, Quiz
from tutor.lesson_session import LessonSession
from tutor.progress.store import Store
from tutor.questions import words

CATALOG = Catalog()
INFO = CATALOG.resolve("self-attention").info
REPORT = Report(panels=(), values={"weights": [0.4011, 0.1978, 0.4011], "output": [6.017, 3.983], "scores": [0.7071]})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def session_at(store: Store, step: str, language: str = "en") -> LessonSession:
    session = LessonSession(INFO, CATALOG, store, language)
    session.open(step).result()
    return session


def prediction(session: LessonSession) -> Predict:
    return session.step.predictions[0]


def quiz(session: LessonSession) -> Quiz:
    return session.step.quizzes[0]


def test_an_unknown_step_opens_the_first_one(store: Store) -> None:
    assert session_at(store, "no-such-step").index == 0


def test_a_prediction_waits_for_its_run_and_is_recorded_once(store: Store) -> None:
    session = session_at(store, "seven-numbers")
    block = prediction(session)
    assert session.predict(block, "0.28") is None
    assert session.state(block.id).stage == "waiting"
    lab = session.step.lab
    assert lab is not None
    session.note_report(lab, Report(panels=(), values={"normalised_largest": 0.2759, "normalised": [0.2759] * 7}))
    saved = session.settle(block)
    assert saved is not None
    assert saved.result()
    assert session.settle(block) is None
    assert [(p.answer, p.outcome, p.confidence) for p in store.predictions("L08")] == [("0.28", "hit", 70)]


def test_what_happened_is_kept_apart_from_the_language(store: Store) -> None:
    session = session_at(store, "by-hand", "zh")
    block = prediction(session)
    right = next(option for option in block.options if option.right)
    session.state(block.id).confidence = 3
    saved = session.predict(block, right.value)
    assert saved is not None
    assert saved.result()
    again = session_at(store, "by-hand", "en")
    verdict = again.words(prediction(again), str).verdict
    assert "80 % sure" in verdict
    assert not any("\u4e00" <= character <= "\u9fff" for character in verdict)


def test_prose_quotes_a_withheld_lab_only_after_the_prediction(store: Store) -> None:
    session = session_at(store, "by-hand")
    lab = session.step.lab
    assert lab is not None
    session.note_report(lab, REPORT)
    assert lab.id not in session.quotable()
    session.skip(prediction(session)).result()
    assert session.quotable()[lab.id]["weights"] == [0.4011, 0.1978, 0.4011]


def test_a_quiz_answer_that_cannot_be_read_is_refused_and_not_recorded(store: Store) -> None:
    session = session_at(store, "softmax")
    assert session.answer(quiz(session), "a half") is None
    assert session.state(quiz(session).id).refusal is not None
    assert store.answers("L08") == []


def test_answers_are_there_again_the_next_time(store: Store) -> None:
    session = session_at(store, "softmax")
    for given in ("0.4", "0.5"):
        saved = session.answer(quiz(session), given)
        assert saved is not None
        saved.result()
    again = session_at(store, "softmax")
    state = again.state(quiz(again).id)
    assert (state.stage, state.right, state.draft) == ("done", True, "0.5")
    assert again.open_questions() == []


def test_a_step_is_finished_once_its_questions_are_done(store: Store) -> None:
    session = session_at(store, "softmax")
    assert session.finish() is None
    saved = session.answer(quiz(session), "0.5")
    assert saved is not None
    finished = session.finish()
    assert finished is not None
    assert finished.result()
    assert session.finish() is None
    assert store.lesson_progress()["L08"].steps_finished == 1


def test_a_lesson_goes_on_where_it_was_left(store: Store) -> None:
    session_at(store, "scale")
    assert LessonSession(INFO, CATALOG, store, "en").resume_at() == "scale"


def test_another_language_keeps_the_step_and_the_answers(store: Store) -> None:
    session = session_at(store, "softmax")
    session.state(quiz(session).id).draft = "0.4"
    session.translate("zh")
    assert session.step.id == "softmax"
    assert session.state(quiz(session).id).draft == "0.4"


def test_a_wrong_choice_is_told_why_and_what_is_right(store: Store) -> None:
    session = session_at(store, "scale")
    block = quiz(session)
    wrong = next(option for option in block.options if not option.right)
    session.answer(block, wrong.value)
    verdict = words(block, session.state(block.id), {}, str).verdict
    right = next(option for option in block.options if option.right)
    assert wrong.why in verdict
    assert right.text in verdict
