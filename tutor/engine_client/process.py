"""The engine as a child process: how it is started, spoken to and ended."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import engine.contract
from engine.contract import crash
from engine.contract.message import Message, say
from engine.contract.protocol import Close, Request, encode
from tutor.engine_client.log import last_line, log_path, open_log

HOME = Path(engine.contract.__file__).parents[2]
"""The folder that holds `engine`: the engine's working folder, so that nothing of the learner's is imported."""

# Seconds after stdin has closed, after SIGTERM, after SIGKILL. An engine needs 5 ms for the first; what has not yet
# said that it is one (a queue, a login) may never read its stdin.
_PATIENCE = (1.0, 0.3, 0.3)
_PATIENCE_WITH_A_STRANGER = 0.05


class CannotStart(Exception):
    """Raised when there is no process to talk to; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


def words(command: str | Sequence[str] | None) -> list[str]:
    """Return the command that starts an engine as words; None means this Python. Raises CannotStart.

    A path relative to the learner's folder is made absolute, because the engine starts in another one.
    """
    if command is None:
        return [sys.executable, "-m", "engine"]
    try:
        split = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError:
        message = say("The quotation marks of the engine command do not match: {command}", command=str(command))
        raise CannotStart(message) from None
    if not split:
        raise CannotStart(say("The engine command is empty."))
    return [os.path.abspath(word) if os.sep in word and os.path.exists(word) else word for word in split]


class EngineProcess:
    """A running engine: frames go in by `send`, bytes come out of the fd `output`."""

    def __init__(self, command: Sequence[str]) -> None:
        path = log_path()
        log = open_log(path)
        self._log = path
        self._log_start = log.tell() if log else 0
        try:
            self._process = subprocess.Popen(
                command,
                cwd=HOME,
                env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log or subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # Ctrl+C is the front end's
            )
        except FileNotFoundError:
            raise CannotStart(say("The engine's program “{program}” is not there.", program=command[0])) from None
        except OSError as error:
            reason = error.strerror or str(error)
            message = say(
                "The engine's program “{program}” cannot be run: {reason}.", program=command[0], reason=reason
            )
            raise CannotStart(message) from None
        finally:
            if log:
                log.close()
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)
        self.output = self._output.fileno()

    def send(self, request: Request) -> None:
        """Write one request; an engine that has gone is left to the reader, who sees its output end."""
        data = encode(request)
        with suppress(OSError, ValueError):  # ValueError: stdin was closed by `end`
            written = self._input.write(data) or 0
            while written < len(data):
                written += self._input.write(memoryview(data)[written:]) or 0

    def end(self, *, greeted: bool = True) -> None:
        """End the engine and all it started and reap it, by the gentlest means that works, within 1.6 s."""
        self.send(Close())
        with suppress(OSError):
            self._input.close()
        if not self._gone(_PATIENCE[0] if greeted else _PATIENCE_WITH_A_STRANGER):
            self._signal(signal.SIGTERM)
            if not self._gone(_PATIENCE[1]):
                self._signal(signal.SIGKILL)
                self._gone(_PATIENCE[2])

    def last_words(self) -> str:
        """Return the last line it wrote to stderr, if any."""
        return last_line(self._log, self._log_start)

    def ending(self) -> Message:
        """Return in words how the process ended."""
        return crash.reason(self._process.returncode or 0)

    def close(self) -> None:
        """Give back the pipe of an engine that has ended."""
        self._output.close()

    def _gone(self, patience: float) -> bool:
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
