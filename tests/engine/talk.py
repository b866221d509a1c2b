"""A front end of a few lines, and a look at the processes that an engine leaves behind."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from engine.contract.protocol import Decoder, Failed, Finished, Reply, Request, Run, encode

ROOT = Path(__file__).parents[2]
FAKE_ENGINE = (sys.executable, "-m", "tests.engine.fake_engine")
MARK = "TUTOR_TEST_MARK"

Kind = TypeVar("Kind")


class Talk:
    """An engine process and the conversation with it; every process it starts carries `mark` in its environment."""

    def __init__(self, command: tuple[str, ...] = FAKE_ENGINE) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, MARK: self.mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.decoder = Decoder(Reply, preamble=True)
        self.heard: list[Reply] = []
        self._unread: list[Reply] = []
        self._last_run = 0
        self._started = time.monotonic()

    def send(self, request: Request) -> None:
        self.send_bytes(encode(request))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)

    def run(self, lab: str, **params: object) -> int:
        """Ask for a run and return its number."""
        self._last_run += 1
        self.send(Run(self._last_run, lab, params))
        return self._last_run

    def reply(self, patience: float = 30.0) -> Reply:
        """Return the next reply."""
        assert self.process.stdout
        while not self._unread:
            assert select.select([self.process.stdout], [], [], patience)[0], "the engine is silent"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError("the engine has ended")
            self._unread += self.decoder.feed(data)
        self.heard.append(self._unread[0])
        return self._unread.pop(0)

    def is_silent(self, seconds: float) -> bool:
        """Tell whether nothing comes for `seconds`; what is on its way is taken in first."""
        assert self.process.stdout
        while self._unread or select.select([self.process.stdout], [], [], seconds)[0]:
            self.reply()
            if time.monotonic() > self._started + 60:
                return False
        return True

    def wait_for(self, kind: type[Kind], patience: float = 30.0) -> Kind:
        """Return the next reply of one kind."""
        while not isinstance(reply := self.reply(patience), kind):
            pass
        return reply

    def outcome(self, run: int) -> Finished | Failed:
        """Return the last reply to a run."""
        while not isinstance(reply := self.reply(), (Finished, Failed)) or reply.id != run:
            pass
        return reply

    def result(self, lab: str, **params: object) -> Finished:
        """Run a lab to its end."""
        outcome = self.outcome(self.run(lab, **params))
        assert isinstance(outcome, Finished), outcome
        return outcome

    def failure(self, lab: str, **params: object) -> Failed:
        """Run a lab that gives no report."""
        outcome = self.outcome(self.run(lab, **params))
        assert isinstance(outcome, Failed), outcome
        return outcome

    def end(self) -> tuple[int, str]:
        """Close the engine's stdin; return its exit code and what it wrote to stderr."""
        _, errors = self.process.communicate(timeout=10)
        return self.process.returncode, errors.decode()


def marked(mark: str) -> dict[int, list[str]]:
    """Return the living processes whose environment carries `mark`: their threads by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or somebody else's
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found[int(folder.name)] = os.listdir(folder / "task")
    return found


def left_after(mark: str, seconds: float) -> set[int]:
    """Return who of the marked processes still lives after `seconds`, or an empty set as soon as nobody does."""
    end = time.monotonic() + seconds
    while (left := set(marked(mark))) and time.monotonic() < end:
        time.sleep(0.02)
    return left
