"""What the banner says when progress cannot be saved."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from engine.contract.message import Message, say
from tutor.progress.migrations import NewerFileError

_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def no_home() -> Message:
    """Say that there is no folder to save in."""
    return say(
        "There is no home folder to save your progress in: it is kept only until you quit. "
        "Set TUTOR_HOME to a folder and start again."
    )


def set_aside_as(aside: Path) -> Message:
    """Say where a damaged file is now."""
    return say(
        "The progress file was damaged. It is kept as {name} in {folder}; a new one has been started.",
        name=aside.name,
        folder=str(aside.parent),
    )


def damaged_in_place(path: Path) -> Message:
    """Say that a damaged file cannot be renamed."""
    return say(
        "The progress file {path} is damaged and cannot be renamed: new progress is kept only until you quit. "
        "Move the file away.",
        path=str(path),
    )


def cannot_save(trouble: Exception, path: Path) -> Message:
    """Say in words why the file cannot be written just now, and what to do."""
    if isinstance(trouble, NewerFileError):
        return say(
            "The progress file was written by a newer tutor: it is read, but new progress is kept only until you "
            "quit. Update tutor to save again."
        )
    folder = str(path.parent)
    number = trouble.errno if isinstance(trouble, OSError) else None
    text = str(trouble)
    if number in _READ_ONLY or "readonly" in text:
        return say(
            "The folder {folder} cannot be written: new progress is kept only until you quit. "
            "Set TUTOR_HOME to another folder.",
            folder=folder,
        )
    if number in _FULL or "is full" in text:
        return say(
            "The disk of {folder} is full: new progress is kept in memory. Free some space; "
            "it is saved with your next answer.",
            folder=folder,
        )
    if isinstance(trouble, sqlite3.OperationalError) and "lock" in text:
        return say(
            "The progress file in {folder} is held by another program, or its disk cannot lock files: "
            "new progress is kept in memory and saved as soon as it can be.",
            folder=folder,
        )
    return say(
        "Progress cannot be saved in {folder} ({reason}): it is kept in memory and saved as soon as it can be.",
        folder=folder,
        reason=text,
    )
