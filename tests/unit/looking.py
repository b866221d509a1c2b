"""Answers `tutor probe` and `tutor view` inside the test's own process, without an engine process and its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.contract.protocol import Errand, Failed, Finished, Probe, Reply, View
from engine.probe.model import probe
from engine.probe.refusal import Refused
from engine.probe.view import view


class LookingClient:
    """Answers as the engine client does."""

    made: list[LookingClient]

    def __init__(self, listener: Callable[[Any], None], *, command: Any = None, gpu_memory: str | None = None) -> None:
        self.asked: list[Errand] = []
        self.closed = False
        type(self).made.append(self)

    def probe(self, file: str, source: str, name: str, text: str, *, seed: int = 0) -> int:
        """Note what is asked."""
        self.asked.append(Probe(1, file, source, name, text, seed))
        return 1

    def view(self, file: str, data: bytes, name: str = "") -> int:
        """Note what is asked."""
        self.asked.append(View(1, file, data, name))
        return 1

    def events(self, number: int, timeout: float | None = None) -> Iterator[Reply]:
        """Answer it."""
        request = self.asked[-1]
        try:
            yield Finished(1, probe(request) if isinstance(request, Probe) else view(request))
        except Refused as refused:
            yield Failed(1, "invalid", refused.message, refused.field)

    def close(self) -> None:
        """End."""
        self.closed = True


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> list[LookingClient]:
    """Commands look in this process; the list fills with the clients they make."""
    made: list[LookingClient] = []
    monkeypatch.setattr(LookingClient, "made", made, raising=False)
    monkeypatch.setattr("tutor.cli.engine.EngineClient", LookingClient)
    return made
