"""Standard input, output and error as they come: closed, of any encoding, or with nobody reading."""

from __future__ import annotations

import codecs
import os
import sys
import unicodedata
from contextlib import suppress
from typing import TextIO

_CLOSEST = {
    **dict.fromkeys("“”„″", '"'),
    **dict.fromkeys("‘’‚′", "'"),
    **dict.fromkeys("–—−―─━╌═▔", "-"),
    **dict.fromkeys("│┃║▏▕", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╷╵", "+"),
    **dict.fromkeys("•·∙⋅●▪", "*"),
    "…": ".",
    "×": "x",
    "→": ">",
    "←": "<",
    "↹": ">",
    "⏎": "<",
    "✓": "+",
    "✗": "x",
    "√": "V",
    "█": "#",
}


def prepare_streams() -> None:
    """Make printing safe: missing streams lead nowhere, what an encoding lacks becomes the closest it has."""
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        if not _is_open(descriptor):
            # An unused 0, 1 or 2 would be given to the next file opened, and what is printed would end up in it.
            os.open(os.devnull, flags)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register_error("tutor.closest", _closest)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a test's stand-in
            stream.reconfigure(errors="tutor.closest")  # type: ignore[union-attr]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def drop_output(stream: TextIO | None = None) -> None:
    """Send what is still to be written to `stream` (stdout) nowhere: Python would complain of it on its way out."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, (stream or sys.stdout).fileno())
        os.close(nowhere)


def holds_chinese(stream: TextIO) -> bool:
    """Tell whether the stream's encoding has Chinese characters."""
    try:
        "中文，".encode(encoding_of(stream))
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def encoding_of(stream: TextIO) -> str:
    """Return the encoding of a stream ("utf-8" for one that has none, such as a test's)."""
    return getattr(stream, "encoding", None) or "utf-8"


def _closest(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks, cell for cell, so that columns stay aligned."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(map(_replacement, lost)), error.end


def _replacement(char: str) -> str:
    from tutor.text.width import cells  # met only where an encoding lacks something

    if (known := _CLOSEST.get(char)) is not None:
        return known
    plain = "".join(part for part in unicodedata.normalize("NFKD", char) if part.isascii() and part.isprintable())
    return plain.ljust(cells(char)) if len(plain) == 1 else "?" * cells(char)
