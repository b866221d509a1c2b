"""The engine's log: what it writes to stderr, kept for `tutor doctor` and for the reason when it does not start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

LARGEST = 1_000_000
_LONGEST_LINE = 200


def log_path() -> Path:
    """Return the file: in TUTOR_HOME when it is set, else in the platform's log directory."""
    if home := os.environ.get("TUTOR_HOME"):
        return Path(home).expanduser() / "engine.log"
    from platformdirs import user_log_path  # 10 ms that TUTOR_HOME spares

    return user_log_path("tutor", appauthor=False) / "engine.log"


def open_log(path: Path) -> BinaryIO | None:
    """Open the log for appending; one larger than 1 MB becomes `engine.log.1` first. None when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists() and path.stat().st_size > LARGEST:
            path.replace(path.with_suffix(".log.1"))
        return path.open("ab")
    except OSError:
        return None


def last_line(path: Path, start: int) -> str:
    """Return the last line written behind byte `start`, or "" when there is none."""
    try:
        with path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(start, end - 4096))
            return clean_last_line(log.read())
    except OSError:
        return ""


def clean_last_line(data: bytes | str) -> str:
    """Return the last line that holds anything, without control characters and at most 200 long."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    lines = ["".join(c for c in line if c.isprintable()).strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")[:_LONGEST_LINE]
