"""Keeps an engine process: starts it, reads it in a thread, starts it again when it dies, in the end gives up."""

from __future__ import annotations

import math
import os
import select
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from engine.contract.message import Message, say
from engine.contract.protocol import (
    PROTOCOL,
    Decoder,
    FramingError,
    Hello,
    Job,
    ProtocolMismatch,
    Ready,
    Reply,
    Request,
)
from tutor.engine_client.log import clean_last_line
from tutor.engine_client.process import CannotStart, EngineProcess, words
from tutor.engine_client.state import EngineState

MOST_QUICK_DEATHS = 3
QUICK = 5.0  # seconds: an engine that was ready for less will die again
PAUSES = (0.1, 0.5)  # seconds before the second and the third start


class Keeper:
    """Holds at most one engine process. All three callbacks are called in the reader thread:

    `hear(reply)`, `change(state)`, and `lose(message)` when what was sent and not answered will not be.
    """

    def __init__(
        self,
        command: str | Sequence[str] | None,
        gpu_memory: str | None,
        *,
        hear: Callable[[Reply], None],
        change: Callable[[EngineState], None],
        lose: Callable[[Message], None],
    ) -> None:
        self._command = command
        self._options = ["--gpu-memory", gpu_memory] if gpu_memory else []
        self._hear = hear
        self._change = change
        self._lose = lose
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None
        self._process: EngineProcess | None = None
        self._closing = False
        self._greeted = False  # the engine has said hello: requests go out at once
        self._waiting: list[Request] = []  # until it has
        self._aside: deque[Reply] = deque()
        self._noise = ""
        self._woken, self._waker = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._woken, select.POLLIN)

    def start(self) -> None:
        """Start the engine in the background, unless it is there or on its way."""
        with self._lock:
            if not self._closing and self._reader is None:
                self._reader = threading.Thread(target=self._keep, name="engine", daemon=True)
                self._reader.start()

    def send(self, request: Request) -> None:
        """Send `request`, now or when the engine has said hello."""
        with self._lock:
            if self._greeted and self._process:
                self._process.send(request)
            else:
                self._waiting.append(request)

    def withdraw(self, run: int) -> bool:
        """Take back the unsent run `run`; return whether it was unsent."""
        with self._lock:
            unsent = [request for request in self._waiting if isinstance(request, Job) and request.id == run]
            self._waiting = [request for request in self._waiting if request not in unsent]
            return bool(unsent)

    def holds(self, run: int) -> bool:
        """Tell whether the run `run` waits to be sent."""
        with self._lock:
            return any(isinstance(request, Job) and request.id == run for request in self._waiting)

    def put_aside(self, reply: Reply) -> None:
        """Have the reader thread hear a reply that the engine did not give."""
        self._aside.append(reply)
        self._wake()

    def close(self) -> None:
        """End the engine, reap it and stop the reader, within 2 s."""
        with self._lock:
            self._closing = True
            process, greeted, reader = self._process, self._greeted, self._reader
        self._wake()
        if process:
            process.end(greeted=greeted)
        if reader and reader is not threading.current_thread():
            reader.join(0.3)

    def _wake(self) -> None:
        os.write(self._waker, b"!")

    # ── in the reader thread

    def _keep(self) -> None:
        """One engine after another, until they are no use or nobody wants one any more."""
        deaths = 0
        self._change(EngineState("starting", self._waiting_for()))
        while True:
            try:
                lived, reason = self._one_life()
            except CannotStart as error:
                return self._give_up(error.message)
            if self._closing:
                return None
            deaths = 1 if lived > QUICK else deaths + 1
            if deaths == MOST_QUICK_DEATHS:
                return self._give_up(say("The engine does not start: {reason}", reason=reason))
            self._change(EngineState("restarting", say("The engine ended ({reason}) and starts again.", reason=reason)))
            self._lose(say("The engine ended in the middle of the run: {reason}. It starts again.", reason=reason))
            self._wait(PAUSES[deaths - 1])

    def _one_life(self) -> tuple[float, Message | str]:
        """Start an engine and read it to its end; return how many seconds it was ready, and why it ended."""
        process = self._spawn()
        decoder = Decoder(Reply, preamble=True)
        ready_at = math.inf
        trouble: Message | None = None
        try:
            while data := self._read(process):
                for reply in decoder.feed(data):
                    self._take(reply)
                    if isinstance(reply, Ready):
                        ready_at = time.monotonic()
                self._tell_noise(decoder.noise)
        except ProtocolMismatch as error:
            raise CannotStart(_mismatch(error.theirs)) from None
        except FramingError:
            trouble = say("what it writes is not what an engine says")
        finally:
            lived = max(0.0, time.monotonic() - ready_at)
            self._bury(process)
        last_words = "" if lived else process.last_words() or clean_last_line(decoder.noise)
        return lived, last_words or trouble or process.ending()

    def _spawn(self) -> EngineProcess:
        process = EngineProcess([*words(self._command), *self._options])
        with self._lock:
            self._process = process
        self._noise = ""
        self._poll.register(process.output, select.POLLIN)
        return process

    def _read(self, process: EngineProcess) -> bytes:
        """Wait for output and return it, b"" at its end; meanwhile hear what was put aside."""
        while not self._closing:
            for fd, _ in self._poll.poll():
                if fd == process.output:
                    return os.read(fd, 1 << 16)
                self._wake_up()
        return b""

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._closing and (left := end - time.monotonic()) > 0:
            if self._poll.poll(math.ceil(left * 1000)):
                self._wake_up()

    def _wake_up(self) -> None:
        os.read(self._woken, 4096)
        while self._aside:
            self._hear(self._aside.popleft())

    def _take(self, reply: Reply) -> None:
        if isinstance(reply, Hello):
            if reply.protocol != PROTOCOL:
                raise ProtocolMismatch(reply.protocol)
            self._greet()
        self._hear(reply)
        if isinstance(reply, Ready):
            self._change(EngineState("ready"))

    def _greet(self) -> None:
        with self._lock:
            self._greeted = True
            for request in self._waiting:
                if self._process:
                    self._process.send(request)
            self._waiting.clear()

    def _tell_noise(self, noise: str) -> None:
        """While something else than the engine speaks (a queue, a login), show what it says."""
        if not self._greeted and noise != self._noise:
            self._noise = noise
            self._change(EngineState("starting", self._waiting_for(clean_last_line(noise))))

    def _waiting_for(self, line: str = "") -> Message | None:
        """Return what to say while a command of the learner's own brings the engine."""
        if self._command is None:
            return None
        command = self._command if isinstance(self._command, str) else shlex.join(self._command)
        if line:
            return say("Waiting for: {command}, which says: {line}", command=command, line=line)
        return say("Waiting for: {command}", command=command)

    def _bury(self, process: EngineProcess) -> None:
        with self._lock:
            self._process, self._greeted = None, False
        self._poll.unregister(process.output)
        process.end()
        process.close()

    def _give_up(self, message: Message) -> None:
        """Leave the thread; the next `start` begins anew."""
        with self._lock:
            self._reader = None
            self._waiting.clear()
        self._change(EngineState("failed", message))
        self._lose(message)


def _mismatch(theirs: int) -> Message:
    return say(
        "The engine speaks protocol {theirs} and this tutor {ours}; install the same version of both.",
        theirs=theirs,
        ours=PROTOCOL,
    )
