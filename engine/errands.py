"""The host's errands: requests that a child of their own answers, which is killed when it takes too long."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.contract import crash
from engine.contract.message import Message, say
from engine.contract.protocol import Errand, Failed, Reply, encode
from engine.crew import Crew
from engine.pipes import HostEnd, Kind


@dataclass
class _Open:
    """An errand without an answer; `due` is when its child is killed."""

    request: Errand
    end: HostEnd
    due: float = math.inf


class Errands:
    """Starts a child for every errand, gives it the request when it is ready, and ends it when it is due."""

    def __init__(self, crew: Crew, write: Callable[[bytes | memoryview], None]) -> None:
        self._crew = crew
        self._write = write
        self._open: list[_Open] = []

    def begin(self, request: Errand) -> None:
        """Start a child for `request`, which gets it when it says that it is ready."""
        self._open.append(_Open(request, self._crew.start_errand()))

    def hear(self, end: HostEnd, kind: bytes, frames: memoryview) -> None:
        """Take a packet of a child: that it is ready, or its answer."""
        errand = self._of(end)
        if errand is None:
            return
        if kind == Kind.READY:
            errand.due = time.monotonic() + errand.request.seconds
            end.send(errand.request)
        else:
            self._open.remove(errand)
            self._write(frames)

    def cancel(self, id: int) -> bool:
        """End the errand `id` if there is one."""
        for errand in self._open:
            if errand.request.id == id:
                self._end(errand, "cancelled", say("The run was cancelled."))
                return True
        return False

    def lost(self, end: HostEnd, code: int) -> None:
        """A child has ended by itself; tell why when it had not answered."""
        errand = self._of(end)
        if errand:
            self._open.remove(errand)
            self._reply(Failed(errand.request.id, "crashed", _ended(crash.reason(code))))

    def lose_all(self, reason: Message) -> None:
        """The fork server is gone, and all children with it."""
        for errand in self._open:
            self._reply(Failed(errand.request.id, "crashed", _ended(reason)))
        self._open.clear()

    def keep_time(self, now: float) -> None:
        """Kill what is due."""
        for errand in [errand for errand in self._open if now >= errand.due]:
            message = say("It did not end within {seconds:g} s and was stopped.", seconds=errand.request.seconds)
            self._end(errand, "timeout", message)

    @property
    def due(self) -> float:
        """When the next child is to be killed."""
        return min((errand.due for errand in self._open), default=math.inf)

    def _end(self, errand: _Open, code: Literal["cancelled", "timeout"], message: Message) -> None:
        self._open.remove(errand)
        self._crew.dismiss(errand.end)
        self._reply(Failed(errand.request.id, code, message))

    def _reply(self, message: Reply) -> None:
        self._write(encode(message))

    def _of(self, end: HostEnd) -> _Open | None:
        return next((errand for errand in self._open if errand.end is end), None)


def _ended(reason: Message) -> Message:
    return say("It ended in the middle: {reason}.", reason=reason)
