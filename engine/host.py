"""The host: the part of the engine process that always answers. It computes nothing.

One loop waits for requests on stdin, for what the workers write, and for exits. Two rules keep it simple: a worker
computes one run at a time; and a run that was asked to stop stays the current one until a worker is ready again, which
is when it is told to be cancelled and the next one is given out.
"""

from __future__ import annotations

import math
import os
import platform
import select
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import msgspec

from engine.contract import crash
from engine.contract.declarations import Lab
from engine.contract.message import Message, say
from engine.contract.protocol import (
    PREAMBLE,
    PROTOCOL,
    Cancel,
    Close,
    Decoder,
    Device,
    Devices,
    Errand,
    Failed,
    FramingError,
    Hello,
    Ready,
    Reply,
    Request,
    Run,
    Started,
    encode,
)
from engine.crew import Crew
from engine.errands import Errands
from engine.pipes import HostEnd, Kind, Work, write_all

# How long a worker may take to stop by itself, in seconds: training saves its state first, and a process killed in the
# middle of a kernel leaves the driver much to clean up.
GRACE_CPU = 0.030
GRACE_TRAINING = 0.300
GRACE_ACCELERATOR = 2.0
# A run this long may have to be killed: its replacement is forked before anybody waits for it …
LONG = 0.100
SPARE_AFTER = 0.005  # … or, when it is cancelled sooner, this long after that
MOST_STILLBORN = 3


def serve(
    *, declarations: str = "engine.contract.labs", labs: str = "engine.labs", gpu_memory: int | None = None
) -> NoReturn:
    """Be an engine on stdin and stdout until stdin closes; the modules named declare and compute the labs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the front end's
    requests, replies = _take_stdio()
    try:
        write_all(replies, PREAMBLE)
        Host(requests, replies, declarations, labs, gpu_memory).serve()
    except BrokenPipeError:  # the front end is gone
        os._exit(0)


def _take_stdio() -> tuple[int, int]:
    """Keep stdin and stdout for frames: whoever else reads gets nothing, whoever else prints prints to stderr."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


class Host:
    """Answers the front end and gives the worker one run after another."""

    def __init__(self, requests: int, replies: int, declarations: str, labs: str, gpu_memory: int | None) -> None:
        self._requests = requests
        self._replies = replies
        self._decoder = Decoder(Request, preamble=False)
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._crew = Crew(self._poll, declarations, labs, gpu_memory)  # torch loads from here on
        self._errands = Errands(self._crew, lambda frames: write_all(self._replies, frames))
        self._declarations = import_module(declarations)
        self._devices: tuple[Device, ...] | None = None
        self._announced = False
        self._stillborn = 0  # children in a row that ended before they were ready

        self._run: Run | None = None  # the worker has it
        self._next: Run | None = None  # waits for the worker
        self._stopping = False  # the current run was asked to stop
        self._grace = GRACE_CPU
        self._spare_at = math.inf
        self._kill_at = math.inf

    def serve(self) -> NoReturn:
        """Say hello and answer until the front end closes stdin or says so."""
        names = self._declarations.names()
        self._reply(Hello(PROTOCOL, _versions(), names))
        for name in names:  # 20 ms that the first run need not wait for, while torch loads
            self._lab(name)
        while True:
            for fd, _ in self._poll.poll(self._patience()):
                if fd == self._requests:
                    self._read_requests()
                elif fd == self._crew.news:
                    self._read_exits()
                elif end := self._crew.end(fd):
                    self._crew.receive(end)
                    self._read_packets(end)
            self._keep_time()

    # ── what the front end asks

    def _read_requests(self) -> None:
        data = os.read(self._requests, 1 << 16)
        if not data:
            self._leave()
        try:
            for request in self._decoder.feed(data):
                self._answer(request)
        except FramingError as error:
            self._leave(f"the front end sent something that is no request: {error}")

    def _answer(self, request: Request) -> None:
        if isinstance(request, Close):
            self._leave()
        elif isinstance(request, Run):
            self._drop_waiting()
            self._next = request
            self._stop() if self._run else self._give_out()
        elif isinstance(request, Errand):
            self._errands.begin(request)
        elif isinstance(request, Cancel):
            if self._errands.cancel(request.id):
                return
            if self._next and self._next.id == request.id:
                self._drop_waiting()
            elif self._run and self._run.id == request.id:
                self._stop()
        elif self._run and self._run.id == request.id:
            self._crew.worker.send(request)

    def _drop_waiting(self) -> None:
        if self._next:
            self._reply(_cancelled(self._next))
            self._next = None

    # ── turns

    def _give_out(self) -> None:
        """Give the waiting run to the worker, if there is one and the worker is free."""
        if self._next and not self._run and self._crew.worker.free and self._knows_devices_for(self._next):
            self._run, self._next = self._next, None
            self._crew.worker.free = False
            self._grace = GRACE_CPU
            self._spare_at = time.monotonic() + LONG
            self._crew.worker.send(Work(self._run, self._devices or ()))

    def _knows_devices_for(self, run: Run) -> bool:
        """Tell whether the devices are known or the run can do without: the look at several cards takes seconds."""
        if self._devices is not None or run.device == "cpu":
            return True
        lab = self._lab(run.lab)
        return run.device == "auto" and (lab is None or lab.runs_on == "cpu")

    def _stop(self) -> None:
        """Ask the worker to stop its run; `_keep_time` sees to it that it does."""
        if self._run and not self._stopping:
            self._stopping = True
            now = time.monotonic()
            self._spare_at = min(self._spare_at, now + SPARE_AFTER)
            self._kill_at = now + self._grace
            self._crew.worker.send(Cancel(self._run.id))

    def _keep_time(self) -> None:
        now = time.monotonic()
        if now >= self._spare_at:
            self._spare_at = math.inf
            self._crew.prepare_spare()
        if now >= self._kill_at:
            self._spare_at = self._kill_at = math.inf
            self._crew.kill_worker()
            self._turn()
        self._errands.keep_time(now)

    def _patience(self) -> int | None:
        """Return the milliseconds until something is due."""
        due = min(self._spare_at, self._kill_at, self._errands.due)
        return None if due == math.inf else max(0, math.ceil((due - time.monotonic()) * 1000))

    def _turn(self) -> None:
        """If the worker is free, close the books on the run that was stopped and give out the next one."""
        if not self._crew.worker.free:
            return
        if self._run and self._stopping:
            self._reply(_cancelled(self._run))
        self._run = None
        self._stopping = False
        self._spare_at = self._kill_at = math.inf
        self._give_out()

    # ── what the children say

    def _read_packets(self, end: HostEnd) -> None:
        for kind, frames in end.packets():
            if end is self._crew.prober:
                self._learn(msgspec.msgpack.decode(frames[4:], type=Devices))
            elif end.errand:
                self._errands.hear(end, kind, frames)
            elif kind == Kind.READY:
                self._welcome(end)
            elif kind == Kind.LAST:
                self._pass_on(frames)
                end.free = True
                self._turn()
            else:
                self._pass_on(frames)
                if kind == Kind.STARTED:
                    self._grace = self._grace_on(msgspec.msgpack.decode(frames[4:], type=Started).device)

    def _pass_on(self, frames: memoryview) -> None:
        if not self._stopping:
            write_all(self._replies, frames)

    def _welcome(self, worker: HostEnd) -> None:
        worker.born = worker.free = True
        self._stillborn = 0
        if not self._announced:
            self._announced = True
            self._reply(Ready())
        if worker is self._crew.worker:
            self._turn()

    def _learn(self, devices: Devices) -> None:
        self._devices = devices.devices
        self._reply(devices)
        self._give_out()

    def _grace_on(self, device: str) -> float:
        lab = self._lab(self._run.lab) if self._run else None
        if device != "cpu":
            return GRACE_ACCELERATOR
        return GRACE_TRAINING if lab and lab.trains else GRACE_CPU

    def _read_exits(self) -> None:
        try:
            for end, code in self._crew.exits():
                while self._crew.receive(end):
                    self._read_packets(end)
                self._mourn(end, code)
        except EOFError:
            gone = say("the process that had loaded PyTorch ended")
            self._lose_run(gone)
            self._errands.lose_all(gone)
            self._count_stillborn("the process that loads PyTorch ended", born=self._announced)
            self._crew.restart()

    def _mourn(self, end: HostEnd, code: int) -> None:
        """A child has ended that nobody had killed."""
        if end is self._crew.prober:
            if self._devices is None:
                self._learn(Devices((Device("cpu", platform.machine(), 0, 0),), "cpu"))
        elif end.errand:
            self._errands.lost(end, code)
        else:
            if end is self._crew.worker:
                self._lose_run(crash.reason(code))
            self._count_stillborn(str(crash.reason(code)), born=end.born)
        self._crew.bury(end)
        self._turn()

    def _lose_run(self, reason: Message) -> None:
        """The worker is gone; a run that was to stop anyway waits for the next worker instead."""
        self._spare_at = self._kill_at = math.inf
        if self._run and not self._stopping:
            self._reply(Failed(self._run.id, "crashed", crash.crashed(reason)))
            self._run = None

    def _count_stillborn(self, reason: str, *, born: bool) -> None:
        """Give up when one child after another ends before it is ready."""
        self._stillborn = 0 if born else self._stillborn + 1
        if self._stillborn >= MOST_STILLBORN:
            self._leave(f"no worker gets ready: {reason}")

    def _lab(self, name: str) -> Lab | None:
        """Return the declaration of a lab; None when there is none, which the worker will tell."""
        try:
            lab: Lab = self._declarations.declaration(name)
        except Exception:
            return None
        return lab

    def _reply(self, message: Reply) -> None:
        write_all(self._replies, encode(message))

    def _leave(self, trouble: str = "") -> NoReturn:
        if trouble:
            print(f"The engine ends: {trouble}", file=sys.stderr, flush=True)
        self._crew.close()
        os._exit(1 if trouble else 0)


def _cancelled(run: Run) -> Failed:
    return Failed(run.id, "cancelled", say("The run was cancelled."))


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version  # 20 ms, while torch loads

    found = {"python": platform.python_version()}
    for name in ("torch", "transformer-tutor"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
