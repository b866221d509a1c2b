"""Calls the command line inside the test's own process; labs are computed there too, without an engine process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from engine.contract.labs import declaration
from engine.contract.parameters import InvalidParameters, build
from engine.contract.protocol import Failed, Finished, Reply, Started
from engine.contract.report import Partial, Report
from tutor.cli.main import run


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


class InProcessClient:
    """Answers as the engine client does, from `engine.labs` in this process."""

    made: list[InProcessClient]

    def __init__(self, listener: Callable[[Any], None], *, command: Any = None, gpu_memory: str | None = None) -> None:
        self.asked: list[tuple[str, dict[str, Any], int, str]] = []
        self.closed = False
        type(self).made.append(self)

    def run(self, lab: str, params: Mapping[str, Any], *, seed: int, device: str, language: str) -> int:
        """Note a run."""
        self.asked.append((lab, dict(params), seed, language))
        return len(self.asked)

    def events(self, number: int, timeout: float | None = None) -> Iterator[Reply]:
        """Compute the run."""
        from engine.labs import run_events

        lab, raw, seed, language = self.asked[number - 1]
        try:
            params = build(declaration(lab).parameters, raw, language)
        except InvalidParameters as refused:
            yield Failed(number, "invalid", refused.problems[0].message, refused.problems[0].field)
            return
        yield Started(number, "cpu")
        for event in run_events(lab, params, seed=seed, language=language):
            if isinstance(event, Report):
                yield Finished(number, event)
            elif not isinstance(event, Partial):
                yield event

    def close(self) -> None:
        """End."""
        self.closed = True


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[InProcessClient]:
    """Commands compute in this process; the list fills with the clients they make."""
    made: list[InProcessClient] = []
    monkeypatch.setattr(InProcessClient, "made", made, raising=False)
    monkeypatch.setattr("tutor.cli.engine.EngineClient", InProcessClient)
    return made


Call = Callable[..., Done]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Call:
    """Carry out a command line in English, with an empty home."""
    monkeypatch.setenv("TUTOR_HOME", str(tmp_path / "home"))
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)

    def carry_out(*words: str) -> Done:
        capsys.readouterr()
        code = run(words)
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return carry_out
