"""What is written is there: at once after the future, after a restart, in every script, in both directions."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.progress import disk, migrations
from tutor.progress.place import data_directory
from tutor.progress.records import Answer, LessonProgress, Prediction, Run, StepVisit
from tutor.progress.store import Store, open_store
from tutor.progress.tables import from_json, to_json

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
FIXTURES = sorted(Path(__file__).parent.glob("progress_v*.sql"))

texts = st.text(max_size=20) | st.sampled_from(["注意力机制", "👩‍🔬 é ｗ", "", "a\x00b", "'; DROP TABLE answer; --"])
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=True, allow_infinity=True)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tutor"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    store = Store(folder)
    yield store
    store.close()


def reopened(store: Store, folder: Path) -> Store:
    assert store.close()
    return Store(folder)


def answer(quiz: str, right: bool, minute: int = 0, lesson: str = "self-attention") -> Answer:
    return Answer(lesson, "scale", quiz, "a", right, NOON + timedelta(minutes=minute))


def test_opening_creates_nothing_and_knows_nothing(store: Store, folder: Path) -> None:
    assert store.position() is None
    assert store.setting("language", "en") == "en"
    assert (store.answers(), store.predictions(), store.runs(), store.lesson_progress()) == ([], [], [], {})
    assert store.notice is None
    assert not folder.exists()


def test_folder_and_file_belong_to_the_learner_alone(store: Store, folder: Path) -> None:
    assert store.set_setting("theme", "dark").result()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "progress.db").stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_can_read_is_made_private(store: Store, folder: Path) -> None:
    store.set_setting("theme", "dark").result()
    (folder / "progress.db").chmod(0o644)
    again = reopened(store, folder)
    assert again.set_setting("theme", "light").result()
    assert (folder / "progress.db").stat().st_mode & 0o777 == 0o600


def test_the_file_is_written_with_a_rollback_journal_and_full_synchronisation(store: Store, folder: Path) -> None:
    store.set_setting("theme", "dark").result()
    assert store._disk is not None
    assert store._disk._connection is not None
    asked = [
        store._disk._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    ]
    assert asked == ["delete", 2]
    assert store._disk._connection.execute("PRAGMA busy_timeout").fetchone()[0] == 5000
    assert store._disk._connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_write_is_on_disk_when_its_future_resolves(store: Store, folder: Path) -> None:
    given = answer("Q08-1", True)
    assert store.record_answer(given).result() is True
    with sqlite3.connect(folder / "progress.db") as file:
        assert file.execute("SELECT uid, quiz, right FROM answer").fetchall() == [(given.uid, "Q08-1", 1)]


def test_the_last_position_wins_even_when_the_clock_has_gone_back(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.remember_position("self-attention", "scale").result()
    monkeypatch.setattr("tutor.progress.store.now", lambda: NOON - timedelta(days=9000))
    store.remember_position("multi-head", "split").result()
    for opened in (store, reopened(store, folder)):
        position = opened.position()
        assert position is not None
        assert (position.lesson, position.step) == ("multi-head", "split")


def test_a_visit_keeps_its_first_and_last_moment_and_the_first_finish(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minute, write in enumerate(
        (store.remember_position, store.finish_step, store.finish_step, store.remember_position)
    ):
        monkeypatch.setattr("tutor.progress.store.now", lambda minute=minute: NOON + timedelta(minutes=minute))
        write("self-attention", "scale").result()
    first, finish, last = NOON, NOON + timedelta(minutes=1), NOON + timedelta(minutes=3)
    assert store.visits("self-attention") == [StepVisit("self-attention", "scale", first, last, finish)]


def test_all_attempts_are_kept_in_order(store: Store, folder: Path) -> None:
    attempts = [answer("Q08-1", right, minute) for minute, right in enumerate((False, False, True))]
    other = answer("Q09-1", True, lesson="multi-head")
    for attempt in (*reversed(attempts), other):
        store.record_answer(attempt).result()
    again = reopened(store, folder)
    assert again.answers("self-attention") == attempts
    assert again.answers("multi-head") == [other]
    assert len(again.answers()) == 4


def test_recording_the_same_answer_twice_keeps_one(store: Store) -> None:
    once = answer("Q08-1", True)
    store.record_answer(once).result()
    store.record_answer(once).result()
    assert store.answers() == [once]


def test_runs_keep_every_field_and_are_found_by_lab(store: Store, folder: Path) -> None:
    run = Run("sqrt-dk", {"d_k": 1024, "text": "我 喜欢"}, 7, "cuda:0", 0.25, {"max": 0.9, "g": [1.0, 2.0]}, "l", "s")
    bench = Run("heads", {}, 0, "cpu", 1.0, {})
    for each in (run, bench):
        store.record_run(each).result()
    again = reopened(store, folder)
    assert again.runs("sqrt-dk") == [run]
    assert again.runs() == [run, bench]


def test_settings_hold_json_values_and_are_replaced(store: Store, folder: Path) -> None:
    for value in ("zh", {"heads": 4, "sentence": "猫 🐈"}, None, 0):
        store.set_setting("bench", value).result()
        assert store.setting("bench", "missing") == value
    assert reopened(store, folder).setting("bench", "missing") == 0


def test_lesson_progress_counts_the_latest_outcome_of_each_item(store: Store) -> None:
    store.remember_position("self-attention", "why").result()
    store.finish_step("self-attention", "scale").result()
    for attempt in (answer("Q1", False), answer("Q1", True, 1), answer("Q2", True), answer("Q2", False, 1)):
        store.record_answer(attempt).result()
    for predict, outcome, minute in (("a", "miss", 0), ("a", "hit", 1), ("b", "miss", 0), ("c", "skipped", 0)):
        moment = NOON + timedelta(minutes=minute)
        store.record_prediction(
            Prediction("self-attention", "scale", predict, 1, 50, outcome, 2, moment)  # type: ignore[arg-type]
        ).result()
    store.record_answer(answer("Q3", True, lesson="rnn")).result()
    last = store.visits("self-attention")[-1].last_at
    assert store.lesson_progress() == {
        "rnn": LessonProgress(quizzes_answered=1, quizzes_right=1),
        "self-attention": LessonProgress(2, 1, 2, 1, 2, 1, last),
    }


@pytest.mark.parametrize("confidence", [-1, 101])
def test_a_confidence_outside_0_to_100_is_refused_and_nothing_else_is_lost(store: Store, confidence: int) -> None:
    refused = store.record_prediction(Prediction("l", "s", "p", 1, confidence, "hit"))
    kept = store.record_answer(answer("Q1", True))
    assert isinstance(refused.exception(), sqlite3.IntegrityError)
    assert kept.result() is True
    assert store.predictions() == []
    assert store.notice is None


def test_a_write_cannot_be_cancelled(store: Store) -> None:
    future = store.record_answer(answer("Q1", True))
    assert not future.cancel()
    assert future.result() is True


def test_closing_writes_what_waits(store: Store, folder: Path) -> None:
    waiting = [answer(f"Q{n}", True, n) for n in range(100)]
    for each in waiting:
        store.record_answer(each)
    assert reopened(store, folder).answers() == waiting


def test_a_closed_store_refuses_writes(store: Store) -> None:
    assert store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.set_setting("theme", "dark")


def test_a_write_brings_in_what_another_tutor_has_written(store: Store, folder: Path) -> None:
    other = Store(folder)
    theirs, ours = answer("Q1", True), answer("Q2", True, 1)
    store.set_setting("theme", "dark").result()
    other.record_answer(theirs).result()
    store.record_answer(ours).result()
    assert store.answers() == [theirs, ours]
    other.close()


@pytest.mark.parametrize("remove", ["file", "folder"])
def test_a_file_deleted_under_a_running_tutor_is_written_anew_with_everything(
    store: Store, folder: Path, remove: str
) -> None:
    first, second = answer("Q1", True), answer("Q2", True, 1)
    store.record_answer(first).result()
    (folder / "progress.db").unlink()
    if remove == "folder":
        folder.rmdir()
    assert store.record_answer(second).result() is True
    assert reopened(store, folder).answers() == [first, second]


@settings(max_examples=200)
@given(json_values)
def test_json_values_come_back_as_they_were(value: Any) -> None:
    text = to_json(value)
    assert to_json(from_json(text)) == text
    assert "NaN" not in to_json(math.nan)
    assert "Infinity" not in to_json(math.inf)


@settings(max_examples=25, deadline=None)
@given(texts, texts, json_values, json_values, st.none() | st.integers(0, 100))
def test_any_text_and_value_survives_a_restart(
    lesson: str, item: str, given_value: Any, actual: Any, confidence: int | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        prediction = Prediction(lesson, item, item, given_value, confidence, "miss", actual)
        run = Run(item, {"value": given_value}, 0, "cpu", 0.5, {"value": actual}, lesson)
        assert store.record_prediction(prediction).result()
        assert store.record_run(run).result()
        assert store.set_setting(item, given_value).result()
        again = reopened(store, Path(name))
        # NaN differs from itself: compare what is printed.
        assert repr(again.predictions(lesson)) == repr([prediction])
        assert repr(again.runs(item)) == repr([run])
        assert repr(again.setting(item)) == repr(given_value)


def test_tutor_home_overrides_the_platforms_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUTOR_HOME", str(tmp_path / "my progress #1?%"))
    store = open_store()
    assert store.set_setting("language", "zh").result()
    store.close()
    assert (tmp_path / "my progress #1?%" / "progress.db").is_file()
    assert open_store().setting("language") == "zh"


def test_without_tutor_home_the_platforms_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUTOR_HOME", raising=False)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    assert data_directory() == tmp_path / "tutor"


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_a_file_of_each_older_version_is_read_and_migrated(fixture: Path, folder: Path) -> None:
    folder.mkdir()
    with sqlite3.connect(folder / "progress.db") as file:
        file.executescript(fixture.read_text("utf-8"))
    for _start in ("first", "second"):
        store = Store(folder)
        assert store.notice is None
        position = store.position()
        assert position is not None
        assert (position.lesson, position.step) == ("self-attention", "scale")
        assert [(a.quiz, a.answer, a.right) for a in store.answers()] == [
            ("Q08-1", "注意力 🎉", False),
            ("Q08-1", [6, 64], True),
        ]
        assert [(p.predict, p.answer, p.confidence, p.outcome) for p in store.predictions()] == [
            ("saturation", 0.9, 70, "hit")
        ]
        assert [(r.lab, r.params, r.values) for r in store.runs()] == [("sqrt-dk", {"d_k": 1024}, {"loss": math.inf})]
        assert store.setting("language") == "zh"
        assert store.lesson_progress()["self-attention"].steps_finished == 1
        assert store.set_setting("theme", "dark").result() is True
        store.close()
    with sqlite3.connect(folder / "progress.db") as file:
        assert file.execute("PRAGMA user_version").fetchone()[0] == len(migrations.STEPS)


def test_every_version_of_the_schema_has_a_fixture() -> None:
    assert [path.stem for path in FIXTURES] == [f"progress_v{n + 1}" for n in range(len(migrations.STEPS))]


def test_a_migration_reaches_the_file_with_the_next_write(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.record_answer(answer("Q1", True)).result()
    step = ("CREATE TABLE card (quiz TEXT PRIMARY KEY)", "ALTER TABLE answer ADD COLUMN hint TEXT")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, step))
    again = reopened(store, folder)
    assert [a.quiz for a in again.answers()] == ["Q1"]
    assert again.record_answer(answer("Q2", True, 1)).result() is True
    with sqlite3.connect(folder / "progress.db") as file:
        assert file.execute("PRAGMA user_version").fetchone()[0] == len(migrations.STEPS)
        assert file.execute("SELECT quiz, hint FROM answer ORDER BY at").fetchall() == [("Q1", None), ("Q2", None)]


def test_a_migration_that_fails_half_way_leaves_the_file_as_it_was(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.record_answer(answer("Q1", True)).result()
    store.close()
    before = (folder / "progress.db").read_bytes()
    monkeypatch.setattr(
        migrations, "STEPS", (*migrations.STEPS, ("CREATE TABLE card (quiz TEXT)", "CREATE TABLE run (x)"))
    )
    file = sqlite3.connect(folder / "progress.db", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError), disk.transaction(file):
        migrations.migrate(file)
    file.close()
    assert (folder / "progress.db").read_bytes() == before


def test_the_store_loads_no_user_interface_and_no_numerics() -> None:
    code = "import sys, tutor.progress.store, tutor.progress.export; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "tutor.progress.store" in modules
    assert not {"textual", "rich", "plotext", "torch", "numpy"} & set(modules)
