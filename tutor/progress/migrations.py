"""The schema of the progress file, as numbered steps.

Rules for the next step: append it, never change an old one; only add tables and columns, because an older tutor still
reads a newer file; and freeze the version before it as `tests/unit/progress_vN.sql`.
"""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x7475746F  # "tuto": tells our files from other people's SQLite files

STEPS: tuple[tuple[str, ...], ...] = (
    (
        f"PRAGMA application_id = {APPLICATION_ID}",
        "CREATE TABLE position (slot TEXT PRIMARY KEY DEFAULT 'last' CHECK (slot = 'last'), "
        "lesson TEXT NOT NULL, step TEXT NOT NULL, at TEXT NOT NULL)",
        "CREATE TABLE visit (lesson TEXT NOT NULL, step TEXT NOT NULL, "
        "first_at TEXT NOT NULL, last_at TEXT NOT NULL, finished_at TEXT, PRIMARY KEY (lesson, step))",
        "CREATE TABLE answer (uid TEXT PRIMARY KEY, lesson TEXT NOT NULL, step TEXT NOT NULL, quiz TEXT NOT NULL, "
        "answer TEXT NOT NULL, right INTEGER NOT NULL CHECK (right IN (0, 1)), at TEXT NOT NULL)",
        "CREATE TABLE prediction (uid TEXT PRIMARY KEY, lesson TEXT NOT NULL, step TEXT NOT NULL, "
        "predict TEXT NOT NULL, answer TEXT NOT NULL, confidence INTEGER CHECK (confidence BETWEEN 0 AND 100), "
        "outcome TEXT NOT NULL CHECK (outcome IN ('hit', 'miss', 'skipped')), actual TEXT NOT NULL, "
        "at TEXT NOT NULL)",
        "CREATE TABLE run (uid TEXT PRIMARY KEY, lab TEXT NOT NULL, params TEXT NOT NULL, seed INTEGER NOT NULL, "
        'device TEXT NOT NULL, seconds REAL NOT NULL, "values" TEXT NOT NULL, lesson TEXT, step TEXT, '
        "at TEXT NOT NULL)",
        "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL, at TEXT NOT NULL)",
    ),
)


class NewerFileError(Exception):
    """The file was written by a newer tutor."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the schema version of a file; 0 is an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_newer(connection: sqlite3.Connection) -> bool:
    """Tell whether a newer tutor wrote the file."""
    return version_of(connection) > len(STEPS)


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the schema up to date inside the caller's transaction and return the version it had.

    Raises NewerFileError when the file is ahead of this tutor.
    """
    version = version_of(connection)
    if is_newer(connection):
        raise NewerFileError
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if version < len(STEPS):
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
    return version
