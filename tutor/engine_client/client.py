"""The front ends' way to the engine: runs go out, replies come to a listener."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from engine.contract.message import Message, say
from engine.contract.protocol import Cancel, Devices, Failed, Finished, Job, Pause, Probe, Reply, Resume, Run, View
from tutor.engine_client.keeper import Keeper
from tutor.engine_client.state import EngineState

__all__ = ["EngineClient", "EngineState"]

_REMEMBERED = 16  # replies of a run that wait for `events`


class EngineClient:
    """Talks to one engine process, which `command` starts (text or words; None is this Python's own engine).

    Replies and changes of state come to `listener` in the client's reader thread. Every run ends with one `Finished`
    or `Failed`, whatever happens to the engine, and nothing of it comes after that.
    """

    def __init__(
        self,
        listener: Callable[[Reply | EngineState], None],
        *,
        command: str | Sequence[str] | None = None,
        gpu_memory: str | None = None,
    ) -> None:
        self.state = EngineState("stopped")
        self.devices: Devices | None = None
        self._listener = listener
        self._keeper = Keeper(command, gpu_memory, hear=self._hear, change=self._change, lose=self._lose)
        self._live: set[int] = set()  # runs without a last reply
        self._inboxes: dict[int, deque[Reply]] = {}
        self._arrived = threading.Condition()
        self._last_run = 0

    def start(self) -> None:
        """Start the engine in the background, unless it is there or on its way."""
        self._keeper.start()

    def run(
        self, lab: str, params: Mapping[str, Any], *, seed: int = 0, device: str = "auto", language: str = "en"
    ) -> int:
        """Ask for a run and return its number; the engine cancels the run before it.

        Raises FramingError when the parameters are larger than 64 MiB.
        """
        chosen: Literal["zh", "en"] = "zh" if language == "zh" else "en"
        return self._ask(lambda number: Run(number, lab, dict(params), seed, device, chosen))

    def probe(self, file: str, source: str, name: str, text: str, *, seed: int = 0) -> int:
        """Ask for a report on a learner's own module or function and return the number of the request."""
        return self._ask(lambda number: Probe(number, file, source, name, text, seed))

    def view(self, file: str, data: bytes, name: str = "") -> int:
        """Ask for a report on the tensors of a file and return the number of the request."""
        return self._ask(lambda number: View(number, file, data, name))

    def _ask(self, job: Callable[[int], Job]) -> int:
        with self._arrived:
            self._last_run += 1
            run = self._last_run
            self._live.add(run)
            self._inboxes = {number: inbox for number, inbox in self._inboxes.items() if number in self._live}
            self._inboxes[run] = deque(maxlen=_REMEMBERED)
        self._keeper.send(job(run))
        self._keeper.start()
        return run

    def cancel(self, run: int) -> None:
        """Stop a run; its last reply says when the engine is ready for the next one."""
        if self._keeper.withdraw(run):
            self._keeper.put_aside(Failed(run, "cancelled", say("The run was cancelled.")))
        elif run in self._live:
            self._keeper.send(Cancel(run))

    def pause(self, run: int) -> None:
        """Hold a run where it is."""
        self._keeper.send(Pause(run))

    def resume(self, run: int) -> None:
        """Go on with a paused run."""
        self._keeper.send(Resume(run))

    def events(self, run: int, timeout: float | None = None) -> Iterator[Reply]:
        """Yield the replies of the latest run as they come, the last one a `Finished` or `Failed`.

        For a caller with nothing else to do: when it falls behind, the oldest replies are left out. Raises
        TimeoutError when nothing comes for `timeout` seconds.
        """
        return self._follow(self._inboxes[run], timeout)

    def _follow(self, inbox: deque[Reply], timeout: float | None) -> Iterator[Reply]:
        while True:
            with self._arrived:
                if not self._arrived.wait_for(lambda: inbox, timeout):
                    raise TimeoutError(f"the engine has not replied for {timeout} s")
                reply = inbox.popleft()
            yield reply
            if isinstance(reply, (Finished, Failed)):
                return

    def close(self) -> None:
        """End the engine and reap it: a few ms, at most 2 s with an engine that does not listen."""
        self._keeper.close()
        self.state = EngineState("stopped")

    # ── in the reader thread

    def _hear(self, reply: Reply) -> None:
        run = getattr(reply, "id", None)
        if run is not None:
            if run not in self._live:
                return  # of a run that is over
            if isinstance(reply, (Finished, Failed)):
                self._live.discard(run)
            with self._arrived:
                if run in self._inboxes:
                    self._inboxes[run].append(reply)
                self._arrived.notify_all()
        elif isinstance(reply, Devices):
            self.devices = reply
        self._listener(reply)

    def _change(self, state: EngineState) -> None:
        if state != self.state:
            self.state = state
            self._listener(state)

    def _lose(self, message: Message) -> None:
        """What was sent to the engine that ended gets no answer from it."""
        for run in sorted(self._live):
            if not self._keeper.holds(run):
                self._hear(Failed(run, "crashed", message))
