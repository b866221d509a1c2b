"""The installed tutor in a real pseudo-terminal, read through pyte: what a learner would see."""

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
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pyte

REPOSITORY = Path(__file__).parents[2]


class PtyApp:
    """Starts `tutor ARGUMENTS`; keys go in as bytes, the screen comes out as lines of text."""

    def __init__(
        self,
        *arguments: str,
        home: Path,
        size: tuple[int, int] = (80, 24),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        columns, rows = size
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = bytearray()
        kept = {name: value for name, value in os.environ.items() if name not in ("COLORTERM", "NO_COLOR")}
        settings = {**kept, "TERM": "xterm-256color", "TUTOR_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
        settings.update(environment or {})
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(sys.executable, [sys.executable, "-m", "tutor", *arguments], settings)

    def __enter__(self) -> PtyApp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.wait_for_exit(2.0) is not None:
                break
            os.kill(self.pid, number)
        os.close(self._fd)

    _status: int | None = None

    def send(self, keys: bytes | str) -> None:
        """Type."""
        os.write(self._fd, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def text(self) -> str:
        """Return what is on the screen; a wide character stands once."""
        rows = (self.screen.buffer[y] for y in range(self.screen.lines))
        return "\n".join("".join(row[x].data for x in range(self.screen.columns)).rstrip() for row in rows)

    def wait(self, *texts: str, seconds: float = 30.0) -> str:
        """Wait until all `texts` are on the screen and return it; fail with what is there instead."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if all(text in self.text() for text in texts):
                return self.text()
            if not self._read(0.1) and self.wait_for_exit(0) is not None:
                break
        raise AssertionError(f"waited for {texts}; the screen shows:\n{self.text()}")

    def settle(self, quiet: float = 0.4) -> str:
        """Wait until nothing has come for a while."""
        while self._read(quiet):
            pass
        return self.text()

    def wait_for_exit(self, seconds: float) -> int | None:
        """Return the exit code once the tutor has ended, or None."""
        end = time.monotonic() + seconds
        while self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                return None
            else:
                self._read(0.02)
        return self._status

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False
        self.output += data
        self._stream.feed(data)
        return bool(data)


def descendants(pid: int) -> set[int]:
    """Return the processes below `pid`, by /proc."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
            children = [Path(f"/proc/{parent}/task/{task}/children").read_text().split() for task in tasks]
        except OSError:
            continue
        new = {int(child) for line in children for child in line} - found
        found |= new
        waiting += new
    return found


def alive(pids: set[int]) -> set[int]:
    """Return those of `pids` that still run (a zombie does not)."""
    running = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            running.add(pid)
    return running
