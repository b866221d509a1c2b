"""Damaged files, read-only, full and lockless disks: nothing readable is lost, and the learner is told."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tutor.i18n import catalogue
from tutor.progress import disk
from tutor.progress.records import Answer
from tutor.progress.store import Store, open_store

Connect = Callable[[str, float], sqlite3.Connection]
LONG = "注意" * 100_000


def answer(quiz: str, value: str = "a") -> Answer:
    return Answer("self-attention", "scale", quiz, value, True)


def quizzes(store: Store) -> list[str]:
    return [each.quiz for each in store.answers()]


def notice_of(store: Store) -> str:
    """Return the English sentence of a notice, having seen that it exists in Chinese too."""
    assert store.notice is not None
    assert store.notice.id in catalogue()
    return str(store.notice)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose progress file has two answers and is some pages long."""
    store = Store(tmp_path)
    store.remember_position("self-attention", "scale")
    store.record_answer(answer("Q1", "long" * 5000))
    store.record_answer(answer("Q2"))
    assert store.close()
    return tmp_path


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "progress.db"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    store = Store(folder)
    yield store
    store.close()


def aside_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("progress.damaged-*.db"))


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def another_programs_database(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE answer (x)")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(os.urandom(20_000)),
    "zeros": lambda path: path.write_bytes(bytes(20_000)),
    "a line of text": lambda path: path.write_text("hello"),
    "a long text": lambda path: path.write_text("学习进度 " * 5000, "utf-8"),
    "wrong header": lambda path: overwrite(path, 0, b"SQLite format 9\0"),
    "two bytes": lambda path: os.truncate(path, 2),
    "cut in the first page": lambda path: os.truncate(path, 600),
    "cut after the first page": lambda path: os.truncate(path, 4096),
    "cut in the second page": lambda path: os.truncate(path, 5000),
    "last page missing": lambda path: os.truncate(path, path.stat().st_size - 4096),
    "table page overwritten": lambda path: overwrite(path, 4096, b"\xff" * 4096),
    "every page but the first zeroed": lambda path: overwrite(path, 4096, bytes(path.stat().st_size - 4096)),
    "another program's database": another_programs_database,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_set_aside_whole_and_a_new_one_started(
    damage: Callable[[Path], object], folder: Path, path: Path
) -> None:
    damage(path)
    damaged = path.read_bytes()
    store = Store(folder)
    (aside,) = aside_files(folder)
    assert aside.read_bytes() == damaged
    assert notice_of(store) == (
        f"The progress file was damaged. It is kept as {aside.name} in {folder}; a new one has been started."
    )
    assert (store.position(), store.answers()) == (None, [])
    assert store.record_answer(answer("Q3")).result() is True
    assert "damaged" in notice_of(store)
    assert store.close()
    again = Store(folder)
    assert quizzes(again) == ["Q3"]
    assert again.notice is None


def test_a_second_damaged_file_of_the_same_second_does_not_overwrite_the_first(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneSecond(datetime):
        @classmethod
        def now(cls, tz: object = None) -> OneSecond:
            return cls(2026, 1, 2, 3, 4, 5)

    monkeypatch.setattr(disk, "datetime", OneSecond)
    for content in ("first", "second", "third"):
        path.write_text(content)
        Store(folder)
    assert {file.name: file.read_text() for file in aside_files(folder)} == {
        "progress.damaged-20260102-030405.db": "first",
        "progress.damaged-20260102-030405-2.db": "second",
        "progress.damaged-20260102-030405-3.db": "third",
    }


def test_the_journal_of_a_damaged_file_goes_with_it(folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(path: Path) -> None:
        raise disk.DamagedFileError

    # SQLite removes a journal that nobody uses; this one belongs to a tutor that is still writing.
    monkeypatch.setattr(disk, "load", damaged)
    (folder / "progress.db-journal").write_bytes(b"half a journal")
    aside = disk.set_aside(path)
    assert aside is not None
    assert aside.with_name(f"{aside.name}-journal").read_bytes() == b"half a journal"
    assert [file.name for file in folder.glob("progress.db*")] == []


def test_a_file_that_another_tutor_has_already_replaced_is_not_set_aside(folder: Path, path: Path) -> None:
    assert disk.set_aside(path) is None
    assert path.exists()


def test_a_file_damaged_under_a_running_tutor_is_replaced_by_one_with_everything(
    store: Store, folder: Path, path: Path
) -> None:
    assert store.record_answer(answer("Q3")).result() is True
    path.write_bytes(b"garbage" * 3000)
    assert store.record_answer(answer("Q4")).result() is True
    assert len(aside_files(folder)) == 1
    assert "damaged" in notice_of(store)
    assert store.close()
    again = Store(folder)
    assert quizzes(again) == ["Q1", "Q2", "Q3", "Q4"]
    assert again.position() is not None


def test_two_tutors_whose_file_is_damaged_both_save_everything_in_the_new_one(folder: Path, path: Path) -> None:
    one, two = Store(folder), Store(folder)
    assert one.record_answer(answer("Q3")).result() is True
    assert two.record_answer(answer("Q4")).result() is True  # `one` has not seen it
    path.write_bytes(b"garbage" * 3000)
    assert one.record_answer(answer("Q5")).result() is True
    assert two.record_answer(answer("Q6")).result() is True
    assert one.close()
    assert two.close()
    assert len(aside_files(folder)) == 1
    assert quizzes(Store(folder)) == ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]


def test_a_damaged_file_that_cannot_be_renamed_stays_and_is_named(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text("garbage")

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refuse)
    store = Store(folder)
    assert store.record_answer(answer("Q3")).result() is False
    assert f"The progress file {path} is damaged and cannot be renamed" in notice_of(store)
    assert quizzes(store) == ["Q3"]
    assert not store.close()
    assert path.read_text() == "garbage"


def test_a_newer_file_is_read_left_alone_and_the_learner_told(folder: Path, path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("ALTER TABLE answer ADD COLUMN hint TEXT")
        file.execute("CREATE TABLE card (quiz TEXT)")
        file.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    store = Store(folder)
    assert "written by a newer tutor" in notice_of(store)
    assert store.record_answer(answer("Q3")).result() is False
    assert quizzes(store) == ["Q1", "Q2", "Q3"]
    assert not store.close()
    assert path.read_bytes() == before
    assert aside_files(folder) == []


def read_only_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open every file as SQLite does by itself where it may not write."""
    real = disk.connect
    monkeypatch.setattr(disk, "connect", lambda target, timeout: real(target.replace("mode=rw", "mode=ro"), timeout))


def test_on_a_read_only_disk_progress_is_read_and_kept_for_the_session(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        read_only_disk(patch)
        store = Store(folder)
        assert quizzes(store) == ["Q1", "Q2"]
        assert store.record_answer(answer("Q3")).result() is False
        assert store.remember_position("multi-head", "split").result() is False
        assert f"The folder {folder} cannot be written" in notice_of(store)
        assert quizzes(store) == ["Q1", "Q2", "Q3"]
        position = store.position()
        assert position is not None
        assert position.lesson == "multi-head"
        assert path.read_bytes() == before
    assert store.record_answer(answer("Q4")).result() is True
    assert store.notice is None
    assert store.close()
    again = Store(folder)
    assert quizzes(again) == ["Q1", "Q2", "Q3", "Q4"]
    position = again.position()
    assert position is not None
    assert position.lesson == "multi-head"


def test_a_disk_that_recovers_before_the_tutor_closes_gets_everything(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        read_only_disk(patch)
        store = Store(folder)
        assert store.record_answer(answer("Q3")).result() is False
    assert store.close()
    assert quizzes(Store(folder)) == ["Q1", "Q2", "Q3"]


def test_on_a_full_disk_answers_wait_in_memory_until_there_is_room(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = disk.connect

    def connect(target: str, timeout: float) -> sqlite3.Connection:
        connection = real(target, timeout)
        if target != ":memory:":
            connection.execute("PRAGMA max_page_count = 1")  # SQLite takes it as: no page more than now
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(disk, "connect", connect)
        assert store.record_answer(answer("Q3", LONG)).result() is False
        assert f"The disk of {folder} is full" in notice_of(store)
        assert store.record_answer(answer("Q4", LONG)).result() is False
        assert quizzes(store) == ["Q1", "Q2", "Q3", "Q4"]
        assert quizzes(Store(folder)) == ["Q1", "Q2"]
    assert store.record_answer(answer("Q5")).result() is True
    assert store.notice is None
    again = Store(folder)
    assert quizzes(again) == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert again.answers()[2].answer == LONG


def test_a_folder_that_cannot_be_made_on_a_full_disk_is_told_as_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", no_space)
    store = Store(tmp_path / "tutor")
    assert store.record_answer(answer("Q1")).result() is False
    assert "is full" in notice_of(store)


def test_a_disk_without_locks_is_read_and_the_writes_wait(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = disk.connect

    def connect(target: str, timeout: float) -> sqlite3.Connection:
        if "mode=rw" in target:
            raise sqlite3.OperationalError("locking protocol")
        return real(target, timeout)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "connect", connect)
        store = Store(folder)
        assert "its disk cannot lock files" in notice_of(store)
        assert quizzes(store) == ["Q1", "Q2"]
        assert store.record_answer(answer("Q3")).result() is False
    assert store.close()
    assert quizzes(Store(folder)) == ["Q1", "Q2", "Q3"]


def test_a_file_locked_by_another_program_is_read_and_written_later(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(disk, "IMPATIENT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store = Store(folder)
    assert quizzes(store) == ["Q1", "Q2"]
    assert store.record_answer(answer("Q3")).result() is False
    assert "is held by another program" in notice_of(store)
    other.execute("ROLLBACK")
    assert store.record_answer(answer("Q4")).result() is True
    assert store.notice is None
    assert quizzes(Store(folder)) == ["Q1", "Q2", "Q3", "Q4"]


def test_closing_is_bounded_while_the_file_is_locked(folder: Path, path: Path) -> None:
    store = Store(folder)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    waiting = store.record_answer(answer("Q3"))
    assert store.close(timeout=0.1) is False
    other.execute("ROLLBACK")
    assert waiting.result() is True  # the writer was still waiting for its turn


def test_a_torn_view_of_a_locked_file_is_never_called_damage(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "IMPATIENT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    overwrite(path, 4096, b"\xff" * 4096)  # what a half-written commit may look like from outside
    store = Store(folder)
    assert "is held by another program" in notice_of(store)
    assert aside_files(folder) == []
    other.execute("ROLLBACK")


def test_a_commit_killed_half_way_is_rolled_back_and_nothing_else_is_lost(folder: Path, path: Path) -> None:
    code = """
        import os, signal, sqlite3, sys
        file = sqlite3.connect(sys.argv[1], isolation_level=None)
        file.execute("PRAGMA cache_size = 1")  # pages reach the disk before the commit
        file.execute("BEGIN IMMEDIATE")
        file.execute("DELETE FROM answer")
        file.executemany("INSERT INTO setting VALUES (?, ?, '')", [(str(n), "x" * 3000) for n in range(200)])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    before = path.stat().st_size
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.stat().st_size > before
    assert (folder / "progress.db-journal").exists()
    store = Store(folder)
    assert store.notice is None
    assert quizzes(store) == ["Q1", "Q2"]
    assert store.settings() == []
    assert path.stat().st_size == before


def test_without_a_home_progress_lasts_for_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUTOR_HOME", raising=False)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: f"~/.local/share/{name}")
    store = open_store()
    assert "There is no home folder" in notice_of(store)
    assert store.record_answer(answer("Q1")).result() is False
    assert quizzes(store) == ["Q1"]
    assert not store.close()


@pytest.mark.parametrize("below", ["tutor", "a/b/tutor"])
def test_a_home_that_cannot_hold_a_folder_is_told(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file" / below)
    assert store.notice is None
    assert store.record_answer(answer("Q1")).result() is False
    assert "Progress cannot be saved" in notice_of(store)
    assert "Traceback" not in notice_of(store)
    assert quizzes(store) == ["Q1"]
