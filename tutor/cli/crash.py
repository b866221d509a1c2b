"""Where the traceback of an unexpected error goes: a log file, never the learner's screen."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from datetime import datetime
from pathlib import Path

from tutor.engine_client.log import log_path

LARGEST = 1_000_000  # bytes; a longer log is begun anew
FILE_NAME = "tutor.log"


def keep_traceback(error: BaseException) -> str:
    """Add the traceback of `error` to the log and return the log's name ("-" when no folder can be written)."""
    entry = f"{datetime.now().isoformat(timespec='seconds')} {sys.argv[1:]!r}\n"
    entry += "".join(traceback.format_exception(type(error), error, error.__traceback__)) + "\n"
    for folder in (log_path().parent, Path(tempfile.gettempdir())):
        if log := _append(folder, entry):
            return log
    return "-"


def _append(folder: Path, entry: str) -> str:
    log = folder / FILE_NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        start = os.O_TRUNC if log.exists() and log.stat().st_size > LARGEST else os.O_APPEND
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | start, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(entry)
    except OSError:
        return ""
    return str(log)
