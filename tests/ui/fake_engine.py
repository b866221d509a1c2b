"""An engine client that computes in a thread of this process: for tests of screens, which need no second process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

from engine.contract.labs import declaration
from engine.contract.message import say
from engine.contract.parameters import InvalidParameters, build
from engine.contract.protocol import Devices, Failed, Finished, Reply, Started
from engine.contract.report import Report


class FakeEngine:
    """Runs labs one after another and reports as the real client does."""

    def __init__(self, listener: Callable[[Reply], None]) -> None:
        self.listener = listener
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._jobs: queue.Queue[tuple[int, str, Mapping[str, Any], int, str] | None] = queue.Queue()
        self._cancelled: set[int] = set()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        if not self._thread.is_alive():
            self._thread.start()
            self.listener(Devices((), "cpu"))

    def run(
        self, lab: str, params: Mapping[str, Any], *, seed: int = 0, device: str = "auto", language: str = "en"
    ) -> int:
        """Queue a run."""
        self.asked.append((lab, dict(params)))
        id = len(self.asked)
        self._jobs.put((id, lab, params, seed, language))
        return id

    def cancel(self, run: int) -> None:
        """Have the run fail as cancelled."""
        self._cancelled.add(run)

    def close(self) -> None:
        """Stop working."""
        self._jobs.put(None)

    def _work(self) -> None:
        from engine.labs import run_events

        while (job := self._jobs.get()) is not None:
            id, lab, raw, seed, language = job
            self.listener(Started(id, "cpu"))
            try:
                params = build(declaration(lab).parameters, raw, language)
            except InvalidParameters as refused:
                problem = refused.problems[0]
                self.listener(Failed(id, "invalid", problem.message, problem.field))
                continue
            for event in run_events(lab, params, seed=seed, language=language):
                if id in self._cancelled:
                    self.listener(Failed(id, "cancelled", say("stopped")))
                    break
                if isinstance(event, Report):
                    self.listener(Finished(id, event))
