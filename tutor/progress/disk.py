"""The progress file: copied into memory, written in transactions, set aside when damaged.

Reading never writes: a missing file reads as empty, an older one is migrated in the copy only. `Disk.commit` creates
and migrates the file itself, in the transaction of the first change.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from tutor.progress.migrations import APPLICATION_ID, is_newer, migrate
from tutor.progress.tables import Change

BUSY_SECONDS = 5.0
IMPATIENT_SECONDS = 0.5  # where the screen waits, or after the disk has already failed once


class DamagedFileError(Exception):
    """The file is not a progress file, or no longer a whole one."""


def empty_copy() -> sqlite3.Connection:
    """Return an empty progress database in memory."""
    memory = connect(":memory:", 0)
    migrate(memory)
    return memory


def load(path: Path) -> tuple[sqlite3.Connection, Exception | None]:
    """Return a copy of the file in memory and what kept us from reading it the ordinary way.

    Raises DamagedFileError; the verdict is only given when no writer can have been half-way through a commit.
    """
    try:
        if not path.exists():
            return empty_copy(), None
        # Read-write without creating: what a killed tutor left half-written is rolled back first.
        return _copy_of(path, "mode=rw"), None
    except (sqlite3.OperationalError, OSError) as trouble:
        with suppress(sqlite3.Error, OSError, DamagedFileError):
            return _copy_of(path, "immutable=1"), trouble
        return empty_copy(), trouble


def set_aside(path: Path) -> Path | None:
    """Rename a damaged file, and the journal beside it, and return the new name.

    Returns None when the file is sound again: another tutor has set the damaged one aside. Raises OSError.
    """
    with _alone_in(path.parent):
        try:
            load(path)[0].close()
            return None
        except DamagedFileError:
            aside = _free_name(path, f"{datetime.now():%Y%m%d-%H%M%S}")
            path.rename(aside)
            with suppress(FileNotFoundError):  # its journal must never be applied to the new file
                _journal(path).rename(_journal(aside))
            return aside


class Disk:
    """The connection that writes; used by the writer thread alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._file_id: tuple[int, int] | None = None
        self._others_version: int | None = None
        self._replaced = False  # has somebody put another file in the place of ours?

    def commit(self, changes: Iterable[Change], everything: Callable[[], Iterable[Change]], *, behind: bool) -> None:
        """Write the changes in one transaction; a new or replaced file, or one that is `behind`, gets `everything`.

        Raises sqlite3.OperationalError, OSError, DamagedFileError or NewerFileError; nothing is written then.
        """
        connection = self._connected()
        patience = IMPATIENT_SECONDS if behind else BUSY_SECONDS
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")
        with _damage_told_apart(), transaction(connection):
            if migrate(connection) == 0 or behind or self._replaced:
                for change in everything():
                    connection.execute(*change)
            for change in changes:
                connection.execute(*change)
        self._replaced = False

    def news(self) -> sqlite3.Connection | None:
        """Return a fresh copy of the file when another tutor has written to it since the last call, else None."""
        if self._connection is None:
            return None
        with suppress(sqlite3.Error, DamagedFileError):
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._others_version:
                copy = copy_to_memory(self._connection)
                self._others_version = version
                return copy
        return None

    def close(self) -> None:
        """Close the file; the next commit opens it again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _connected(self) -> sqlite3.Connection:
        """Return the open connection, opened anew when somebody has moved or replaced the file."""
        if self._connection is not None and _file_id(self.path) != self._file_id:
            self.close()
        if self._connection is None:
            _create(self.path)
            before, self._file_id, self._others_version = self._file_id, _file_id(self.path), None
            self._replaced = self._replaced or before not in (None, self._file_id)
            self._connection = connect(f"{self.path.as_uri()}?mode=rw", IMPATIENT_SECONDS)
            with _damage_told_apart():
                # WAL is unsafe on network homes, which GPU servers have.
                self._connection.execute("PRAGMA journal_mode = DELETE")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA foreign_keys = ON")
        return self._connection


def connect(target: str, timeout: float) -> sqlite3.Connection:
    """Open a file (by URI) or ":memory:" with explicit transactions; `timeout` is how long it waits for locks."""
    return sqlite3.connect(target, timeout=timeout, isolation_level=None, uri=True, check_same_thread=False)


def copy_to_memory(disk: sqlite3.Connection) -> sqlite3.Connection:
    """Return a sound, migrated copy in memory (a newer file's is left as it is). Raises DamagedFileError."""
    memory = connect(":memory:", 0)
    with _damage_told_apart():
        disk.execute("BEGIN")
        try:
            disk.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the lock; backup() waits for ever
            disk.backup(memory)
        finally:
            if disk.in_transaction:
                disk.execute("ROLLBACK")
        _check(memory)
    if not is_newer(memory):
        migrate(memory)
    return memory


def _copy_of(path: Path, how: str) -> sqlite3.Connection:
    disk = connect(f"{path.as_uri()}?{how}", IMPATIENT_SECONDS)
    try:
        return copy_to_memory(disk)
    finally:
        disk.close()


def _check(memory: sqlite3.Connection) -> None:
    if memory.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise DamagedFileError
    empty = memory.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if not empty and memory.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise DamagedFileError


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _damage_told_apart() -> Iterator[None]:
    """Raise DamagedFileError where sqlite3 says "malformed" or "not a database"."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) is sqlite3.DatabaseError:  # the subclasses are other troubles
            raise DamagedFileError from error
        raise


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other tutors from renaming in `folder` meanwhile, where the file system can lock at all."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create(path: Path) -> None:
    """Make folder and file for the owner alone; an existing file is made private, an existing folder is not touched."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            with suppress(OSError):  # file systems without modes
                path.chmod(0o600)


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _free_name(path: Path, stamp: str) -> Path:
    name, number = f"progress.damaged-{stamp}", 1
    candidate = path.with_name(f"{name}.db")
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{name}-{number}.db")
    return candidate
