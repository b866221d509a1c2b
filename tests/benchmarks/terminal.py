"""A program in a pseudo-terminal, as a terminal would see it: when its bytes come, how many, and what CPU they cost.

Nothing is parsed while the clock runs. The two questions that Textual asks at its start (synchronised output, in-band
resize) are answered as a modern terminal answers them.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import pyte

SMALL, LARGE = (80, 24), (200, 50)
ROOT = Path(__file__).resolve().parents[2]
TUTOR = (sys.executable, "-m", "tutor")
_ANSWERS = ((b"\x1b[?2026$p", b"\x1b[?2026;2$y"), (b"\x1b[?2048$p", b"\x1b[?2048;0$y"))


class Terminal:
    """A running program and everything it has written; `columns` × `rows` cells, true colour."""

    def __init__(self, command: Sequence[str], size: tuple[int, int] = SMALL, home: Path | None = None) -> None:
        self.columns, self.rows = size
        self.output = bytearray()
        self._answered = 0
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        environment.pop("NO_COLOR", None)
        if home is not None:
            environment["TUTOR_HOME"] = str(home)
        self.started = self.latest = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
            os.execvpe(command[0], list(command), environment)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self, seconds: float) -> int:
        """Take what the program writes within `seconds`; return the number of bytes, 0 when nothing came."""
        if not select.select([self._fd], [], [], max(0.0, seconds))[0]:
            return 0
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise EOFError(self.tail())
        self.latest = time.perf_counter()
        self.output += data
        for question, answer in _ANSWERS:
            if question in self.output[self._answered :]:
                os.write(self._fd, answer)
                self._answered = len(self.output)
        return len(data)

    def wait_for(self, text: str | bytes, seconds: float = 90.0, start: int = 0) -> float:
        """Wait until `text` has been written behind byte `start`; return the seconds from exec until then."""
        wanted = text.encode() if isinstance(text, str) else text
        end = time.perf_counter() + seconds
        while wanted not in self.output[start:]:
            if time.perf_counter() > end:
                raise TimeoutError(f"{wanted!r} was not written within {seconds} s; last: {self.tail()}")
            self.read(0.5)
        return self.latest - self.started

    def settle(self, quiet: float = 0.15, limit: float = 10.0) -> float:
        """Read until nothing has come for `quiet` seconds; return when the last byte came (perf_counter)."""
        end = time.perf_counter() + limit
        while time.perf_counter() < end and self.read(quiet):
            pass
        return self.latest

    def press(self, key: bytes, seconds: float = 5.0) -> float:
        """Press a key and return the seconds until the program wrote something; raise TimeoutError if it did not."""
        before, at = len(self.output), time.perf_counter()
        os.write(self._fd, key)
        while len(self.output) == before:
            if time.perf_counter() - at > seconds:
                raise TimeoutError(f"{key!r} painted nothing; last: {self.tail()}")
            self.read(0.2)
        return self.latest - at

    def drain(self) -> None:
        """Take what has been written by now."""
        while self.read(0):
            pass

    def screen(self) -> pyte.Screen:
        """Return what the terminal shows now (this takes time: not while a clock runs)."""
        self._stream.feed(bytes(self.output[self._fed :]))
        self._fed = len(self.output)
        return self._screen

    def shows(self, text: str) -> bool:
        """Tell whether `text`, which has no wide characters, is on the screen."""
        return any(text in line for line in self.screen().display)

    def cpu(self) -> float:
        """Return the CPU seconds of the program (all its threads, not its children)."""
        return cpu_seconds(self.pid)

    def children(self) -> list[int]:
        """Return all processes the program has started, and those they have."""
        found: list[int] = []
        waiting = [self.pid]
        while waiting:
            for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
                ids = [int(word) for word in task.read_text().split()]
                found += ids
                waiting += ids
        return found

    def tail(self) -> str:
        """Return the end of the output, for error messages."""
        return bytes(self.output[-300:]).decode("utf-8", "replace")

    def close(self) -> None:
        """End the program and what it has started."""
        pids = [self.pid]
        with suppress(OSError):
            pids += self.children()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(OSError):
            os.close(self._fd)
        os.waitpid(self.pid, 0)


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used, to the nanosecond (Linux's schedstat)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
