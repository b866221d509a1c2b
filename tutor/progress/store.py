"""The progress store: every write is durable when its future resolves, every read is instant.

Reads come from a copy in memory. Writes go through one thread, one transaction each: first to the file, then to the
copy. Where the file cannot be written (read-only, full, locked, of a newer tutor, no home), the copy alone is written,
`notice` says so, and the next write that reaches the file takes everything missing with it.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from engine.contract.message import Message
from tutor.progress import summary, trouble
from tutor.progress.disk import DamagedFileError, Disk, empty_copy, load, set_aside, transaction
from tutor.progress.migrations import NewerFileError, is_newer
from tutor.progress.place import data_directory
from tutor.progress.records import (
    Answer,
    LessonProgress,
    Position,
    Prediction,
    Record,
    Run,
    Setting,
    StepVisit,
    now,
)
from tutor.progress.tables import Change, merge, merge_all, put, select

FILE_NAME = "progress.db"
CLOSE_SECONDS = 6.0  # a little more than a locked file is waited for


class Store:
    """One learner's progress.

    Write methods return a future that resolves to True once the change is on disk, to False when it is only in
    memory (`notice` says why). It cannot be cancelled: leaving a screen must not lose an answer. Reads see a change
    as soon as its future has resolved. All methods may be called from any thread.
    """

    def __init__(self, folder: Path | None) -> None:
        """Read the progress in `folder`, which need not exist; None is nowhere. Never raises for what it finds."""
        self._disk = Disk(folder.absolute() / FILE_NAME) if folder else None
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None
        self._queue: queue.SimpleQueue[tuple[list[Change], Future[bool]] | None] = queue.SimpleQueue()
        self._closed = False
        self._behind = False  # does the copy hold what the file lacks?
        self._damage: Message | None = None
        self._trouble: Message | None = None
        self._copy = self._load()

    @property
    def notice(self) -> Message | None:
        """What the learner must know about saving right now."""
        return self._trouble or self._damage

    def remember_position(self, lesson: str, step: str) -> Future[bool]:
        """Note that this step is open now."""
        at = now()
        return self._write([put(Position(lesson, step, at)), put(StepVisit(lesson, step, at, at))])

    def finish_step(self, lesson: str, step: str) -> Future[bool]:
        """Note that this step is done."""
        at = now()
        return self._write([put(StepVisit(lesson, step, at, at, at))])

    def record_answer(self, answer: Answer) -> Future[bool]:
        """Keep one attempt at a quiz item."""
        return self._write([put(answer)])

    def record_prediction(self, prediction: Prediction) -> Future[bool]:
        """Keep one prediction and its outcome."""
        return self._write([put(prediction)])

    def record_run(self, run: Run) -> Future[bool]:
        """Keep one finished run."""
        return self._write([put(run)])

    def set_setting(self, key: str, value: Any) -> Future[bool]:
        """Keep a JSON value under `key`."""
        return self._write([put(Setting(key, value))])

    def merge(self, records: Iterable[Record]) -> Future[bool]:
        """Take in records from elsewhere, in one transaction; merging them twice changes nothing."""
        return self._write([merge(record) for record in records])

    def position(self) -> Position | None:
        """Return the step that was open last."""
        return next(iter(self._select(Position)), None)

    def visits(self, lesson: str | None = None) -> list[StepVisit]:
        """Return the steps that were opened, of one lesson or of all, the latest last."""
        return self._select(StepVisit, "lesson", lesson, order="last_at")

    def answers(self, lesson: str | None = None) -> list[Answer]:
        """Return all attempts, of one lesson or of all, in order of time."""
        return self._select(Answer, "lesson", lesson)

    def predictions(self, lesson: str | None = None) -> list[Prediction]:
        """Return all predictions, of one lesson or of all, in order of time."""
        return self._select(Prediction, "lesson", lesson)

    def runs(self, lab: str | None = None) -> list[Run]:
        """Return all runs, of one lab or of all, in order of time."""
        return self._select(Run, "lab", lab)

    def setting(self, key: str, default: Any = None) -> Any:
        """Return what was kept under `key`."""
        found = self._select(Setting, "key", key)
        return found[0].value if found else default

    def settings(self) -> list[Setting]:
        """Return all settings, the latest last."""
        return self._select(Setting)

    def lesson_progress(self) -> dict[str, LessonProgress]:
        """Return how far each lesson that was touched has come."""
        with self._lock:
            return summary.lesson_progress(self._copy)

    def close(self, timeout: float = CLOSE_SECONDS) -> bool:
        """Write what still waits, for at most `timeout` seconds; True when everything is on disk."""
        with self._lock:
            self._closed, writer = True, self._writer
        if writer is None:
            return True
        self._queue.put(None)
        writer.join(timeout)
        return not writer.is_alive() and not self._behind

    def _select(self, kind: Any, column: str = "", value: str | None = None, order: str = "at") -> list[Any]:
        where = f"WHERE {column} = ? " if value is not None else ""
        with self._lock:
            return select(self._copy, kind, f"{where}ORDER BY {order}, rowid", () if value is None else (value,))

    def _load(self) -> sqlite3.Connection:
        if self._disk is None:
            self._trouble = trouble.no_home()
            return empty_copy()
        try:
            copy, problem = load(self._disk.path)
        except DamagedFileError:
            return self._load() if self._set_aside(self._disk.path) else empty_copy()
        if problem is None and is_newer(copy):
            problem = NewerFileError()
        if problem is not None:
            self._trouble = trouble.cannot_save(problem, self._disk.path)
        return copy

    def _write(self, changes: list[Change]) -> Future[bool]:
        future: Future[bool] = Future()
        future.set_running_or_notify_cancel()  # from here on it cannot be cancelled
        with self._lock:
            if self._closed:
                raise RuntimeError("the progress store is closed")
            if self._writer is None:
                # A daemon: a network disk that hangs must not keep the tutor from quitting.
                self._writer = threading.Thread(target=self._write_all, name="progress writer", daemon=True)
                self._writer.start()
            self._queue.put((changes, future))
        return future

    def _write_all(self) -> None:
        """Do the writer thread's work until the store closes."""
        while (job := self._queue.get()) is not None:
            changes, future = job
            try:
                future.set_result(self._save(changes))
            except BaseException as error:
                future.set_exception(error)  # a change that the schema refuses; the next one is not affected
        if self._behind:
            self._behind = not self._commit([])
        if self._disk:
            self._disk.close()

    def _save(self, changes: list[Change]) -> bool:
        saved = self._commit(changes)
        news = self._disk.news() if self._disk and saved else None
        with self._lock:
            if news is not None:
                self._copy.close()
                self._copy = news
            else:
                with transaction(self._copy):
                    for change in changes:
                        self._copy.execute(*change)
        self._behind = not saved
        return saved

    def _commit(self, changes: list[Change]) -> bool:
        """Write to the file; False, and a notice, when that cannot be done now."""
        if self._disk is None:
            return False
        for _attempt in ("as it is", "after setting a damaged file aside"):
            try:
                self._disk.commit(changes, self._everything, behind=self._behind)
            except DamagedFileError:
                self._disk.close()
                self._trouble = trouble.damaged_in_place(self._disk.path)
                if self._set_aside(self._disk.path):
                    continue
            except (sqlite3.OperationalError, OSError, NewerFileError) as problem:
                self._disk.close()
                self._trouble = trouble.cannot_save(problem, self._disk.path)
            else:
                self._trouble = None
                return True
            break
        return False

    def _everything(self) -> list[Change]:
        with self._lock:
            return merge_all(self._copy)

    def _set_aside(self, path: Path) -> bool:
        """Move a damaged file out of the way; False, and a notice, when it has to stay."""
        try:
            aside = set_aside(path)
        except OSError:
            self._trouble = trouble.damaged_in_place(path)
            return False
        if aside is not None:
            self._damage = trouble.set_aside_as(aside)
        return True


def open_store() -> Store:
    """Open this learner's store."""
    return Store(data_directory())
