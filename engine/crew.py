"""The host's children: the worker that has the runs, the spare that replaces it, and the look for devices."""

from __future__ import annotations

import platform
import select
import sys

from engine.forkserver import ForkServer
from engine.pipes import HostEnd

_PRELOAD = "engine.worker:preload"
_WORK = "engine.worker:work"
_LOOK_FOR_DEVICES = "engine.worker:report_devices"
_RUN_AN_ERRAND = "engine.probe.child:answer"


class Crew:
    """Starts, replaces and dismisses workers; their pipes are registered with `poll`."""

    def __init__(self, poll: select.poll, declarations: str, labs: str, gpu_memory: int | None) -> None:
        self._poll = poll
        self._modules: dict[str, object] = {"declarations": declarations, "labs": labs}
        self._settings = {**self._modules, "gpu_memory": gpu_memory}
        self._ends: dict[int, HostEnd] = {}  # by the fd of their replies
        self._spare: HostEnd | None = None
        self.worker: HostEnd
        self.prober: HostEnd
        self._start_all()

    @property
    def news(self) -> int:
        """The fd that is readable when a child has ended."""
        return self._server.fileno()

    def end(self, replies: int) -> HostEnd | None:
        """Return the child that writes to the fd `replies`."""
        return self._ends.get(replies)

    def receive(self, end: HostEnd) -> bool:
        """Take in what `end` has written; tell whether there was anything."""
        if end.ended:
            return False
        try:
            return end.receive()
        except EOFError:
            self._poll.unregister(end.replies)  # its exit will be told
            end.ended = True
            return False

    def prepare_spare(self) -> None:
        """Have a second worker ready for when the first must be killed."""
        self._spare = self._spare or self._start(_WORK, self._settings)

    def start_errand(self) -> HostEnd:
        """Start a child that does one thing and ends."""
        end = self._start(_RUN_AN_ERRAND, {})
        end.errand = True
        return end

    def dismiss(self, end: HostEnd) -> None:
        """Kill a child that nobody waits for any more."""
        self._server.kill(end.number)
        self._forget(end)

    def kill_worker(self) -> None:
        """Kill the worker and put another in its place, which may not be ready yet."""
        self._server.kill(self.worker.number)
        self.bury(self.worker)

    def exits(self) -> list[tuple[HostEnd, int]]:
        """Return who has ended by itself, and with which code; raise EOFError when the fork server has."""
        numbers = {end.number: end for end in self._ends.values()}
        return [(numbers[exited.number], exited.code) for exited in self._server.news() if exited.number in numbers]

    def bury(self, end: HostEnd) -> None:
        """Forget a child that is gone; the spare or a new worker takes the place of the worker."""
        self._forget(end)
        if end is self._spare:
            self._spare = None
        elif end is self.worker:
            self.worker, self._spare = self._spare or self._start(_WORK, self._settings), None

    def restart(self) -> None:
        """Start again with a new fork server; the old one's children end with it."""
        for end in list(self._ends.values()):
            self._forget(end)
        self._spare = None
        self._poll.unregister(self._server.fileno())
        self._server.close()
        self._start_all()

    def close(self) -> None:
        """End every child."""
        self._server.close()

    def _start_all(self) -> None:
        # Metal does not survive a fork: on a Mac that has it, every worker is a fresh interpreter.
        fresh = sys.platform == "darwin" and platform.machine() == "arm64"
        self._server = ForkServer(_PRELOAD, self._modules, fresh=fresh)
        self._poll.register(self._server.fileno(), select.POLLIN)
        self.worker = self._start(_WORK, self._settings)
        self.prober = self._start(_LOOK_FOR_DEVICES, {})

    def _start(self, target: str, settings: dict[str, object]) -> HostEnd:
        end = HostEnd(self._server, target, settings)
        self._ends[end.replies] = end
        self._poll.register(end.replies, select.POLLIN)
        return end

    def _forget(self, end: HostEnd) -> None:
        if not end.ended:
            self._poll.unregister(end.replies)
        del self._ends[end.replies]
        end.close()
