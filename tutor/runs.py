"""Runs asked for by screens: one at a time through the engine, their replies to whoever asked, results kept.

The engine does one run at a time. A visible lab is more urgent than a number that prose quotes, so requests wait in a
queue; a receiver that asks again replaces its own earlier request.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.contract.protocol import Failed, Finished, Reply, Started
from engine.contract.report import Partial, Progress, Report

KEPT = 64


@dataclass(frozen=True)
class Request:
    """A lab with its parameters, seed, device and the language its texts default to."""

    lab: str
    params: Mapping[str, Any]
    seed: int = 0
    device: str = "auto"
    language: str = "en"

    @property
    def key(self) -> str:
        """What equal results have in common (the language only picks defaults, which `params` already holds)."""
        return json.dumps([self.lab, self.params, self.seed, self.device], sort_keys=True, ensure_ascii=False)


class Receiver(Protocol):
    """Whoever shows a run."""

    def run_started(self, device: str) -> None:
        """The run has begun on `device`."""

    def run_progressed(self, progress: Progress) -> None:
        """The run has come this far."""

    def run_partial(self, partial: Partial) -> None:
        """Some panels can be shown already."""

    def run_finished(self, report: Report) -> None:
        """The run is done."""

    def run_failed(self, failure: Failed) -> None:
        """The run gave no report."""


class Engine(Protocol):
    """What this module needs of the engine client."""

    def run(
        self,
        lab: str,
        params: Mapping[str, Any],
        *,
        seed: int = 0,
        device: str = "auto",
        language: str = "en",
    ) -> int:
        """Start a run and return its number."""

    def cancel(self, run: int) -> None:
        """Stop a run."""


@dataclass
class _Waiting:
    request: Request
    receiver: Receiver
    urgent: bool


@dataclass
class Runs:
    """The queue of requests, the one run in progress, and the latest results."""

    engine: Engine
    on_result: Callable[[Request, Report], None] = lambda request, report: None
    _queue: list[_Waiting] = field(default_factory=list)
    _active: _Waiting | None = None
    _active_id: int = 0
    _results: OrderedDict[str, Report] = field(default_factory=OrderedDict)

    def result(self, request: Request) -> Report | None:
        """Return the kept result of an equal run, or None."""
        return self._results.get(request.key)

    def ask(self, request: Request, receiver: Receiver, *, urgent: bool = True) -> None:
        """Run `request` for `receiver`, or give it the kept result at once."""
        self.withdraw(receiver)
        kept = self.result(request)
        if kept is not None:
            receiver.run_finished(kept)
            return
        waiting = _Waiting(request, receiver, urgent)
        position = next((i for i, other in enumerate(self._queue) if urgent and not other.urgent), len(self._queue))
        self._queue.insert(position, waiting)
        self._next()

    def withdraw(self, receiver: Receiver) -> bool:
        """Forget what `receiver` asked for; return whether its run was in progress (and is being cancelled)."""
        self._queue = [waiting for waiting in self._queue if waiting.receiver is not receiver]
        if self._active is None or self._active.receiver is not receiver:
            return False
        self._active.receiver = _Nobody()
        self.engine.cancel(self._active_id)
        return True

    def cancel(self, receiver: Receiver) -> bool:
        """Stop the run of `receiver`, which will be told by `run_failed`; return whether there was one."""
        self._queue = [waiting for waiting in self._queue if waiting.receiver is not receiver]
        if self._active is None or self._active.receiver is not receiver:
            return False
        self.engine.cancel(self._active_id)
        return True

    def deliver(self, reply: Reply) -> None:
        """Give a reply of the engine to the receiver of its run; replies of other runs are dropped."""
        if self._active is None or getattr(reply, "id", None) != self._active_id:
            return
        waiting = self._active
        if isinstance(reply, Started):
            waiting.receiver.run_started(reply.device)
        elif isinstance(reply, Progress):
            waiting.receiver.run_progressed(reply)
        elif isinstance(reply, Partial):
            waiting.receiver.run_partial(reply)
        elif isinstance(reply, (Finished, Failed)):
            self._active = None
            if isinstance(reply, Finished):
                self._keep(waiting.request, reply.report)
                waiting.receiver.run_finished(reply.report)
            else:
                waiting.receiver.run_failed(reply)
            self._next()

    def _keep(self, request: Request, report: Report) -> None:
        self._results[request.key] = report
        self._results.move_to_end(request.key)
        while len(self._results) > KEPT:
            self._results.popitem(last=False)
        self.on_result(request, report)

    def _next(self) -> None:
        if self._active is not None or not self._queue:
            return
        self._active = self._queue.pop(0)
        request = self._active.request
        self._active_id = self.engine.run(
            request.lab, request.params, seed=request.seed, device=request.device, language=request.language
        )


class _Nobody:
    """The receiver of a run nobody waits for any more."""

    def run_started(self, device: str) -> None: ...
    def run_progressed(self, progress: Progress) -> None: ...
    def run_partial(self, partial: Partial) -> None: ...
    def run_finished(self, report: Report) -> None: ...
    def run_failed(self, failure: Failed) -> None: ...
