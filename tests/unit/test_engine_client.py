"""The client against stub engines: every run gets one last reply, whatever the engine does."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.contract.protocol import Devices, Failed, Finished, Hello, Reply
from engine.contract.report import Progress
from tutor.engine_client.client import EngineClient, EngineState
from tutor.engine_client.keeper import MOST_QUICK_DEATHS
from tutor.engine_client.log import LARGEST, clean_last_line, last_line, log_path, open_log
from tutor.engine_client.process import HOME, words

PATIENCE = 20.0


class Front:
    """A front end that writes down what it hears."""

    def __init__(self, *command: str, gpu_memory: str | None = None) -> None:
        self.heard: list[Reply | EngineState] = []
        self.threads: set[str] = set()
        self._news = threading.Condition()
        self.client = EngineClient(self._hear, command=command or None, gpu_memory=gpu_memory)

    def _hear(self, news: Reply | EngineState) -> None:
        with self._news:
            self.heard.append(news)
            self.threads.add(threading.current_thread().name)
            self._news.notify_all()

    def wait_until(self, true: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(true, PATIENCE), self.heard

    def wait_for_phase(self, phase: str) -> EngineState:
        self.wait_until(lambda: any(state.phase == phase for state in self.states))
        return next(state for state in self.states if state.phase == phase)

    @property
    def states(self) -> list[EngineState]:
        return [news for news in self.heard if isinstance(news, EngineState)]

    @property
    def phases(self) -> list[str]:
        return [state.phase for state in self.states]

    def outcome(self, lab: str, **params: object) -> Finished | Failed:
        *_, last = self.client.events(self.client.run(lab, params), PATIENCE)
        assert isinstance(last, (Finished, Failed))
        return last


Open = Callable[..., Front]


@pytest.fixture
def open_front() -> Iterator[Open]:
    """Open fronts on stub engines, and close them in the end."""
    fronts: list[Front] = []

    def open_one(manner: str = "plain", **options: str) -> Front:
        fronts.append(Front(sys.executable, "-m", "tests.unit.stub_engine", manner, **options))
        return fronts[-1]

    yield open_one
    for front in fronts:
        front.client.close()


def test_a_run_before_the_engine_is_there_is_kept_for_it(open_front: Open) -> None:
    front = open_front()
    outcome = front.outcome("echo", text="今天 🙂")
    assert isinstance(outcome, Finished)
    assert outcome.report.values["text"] == "今天 🙂"


def test_the_listener_hears_everything_in_one_thread(open_front: Open) -> None:
    front = open_front()
    front.client.start()
    front.client.start()
    front.outcome("echo", text="")
    kinds = [type(news) for news in front.heard if not isinstance(news, EngineState)]
    assert kinds[:2] == [Hello, Devices]
    assert front.phases == ["starting", "ready"]
    assert front.threads == {"engine"}
    assert front.client.state.phase == "ready"
    assert front.client.devices is not None
    assert front.client.devices.preferred == "cpu"


def test_nothing_is_heard_of_a_run_after_its_last_reply(open_front: Open) -> None:
    front = open_front()
    run = front.client.run("chatter", {})
    assert [type(reply) for reply in front.client.events(run, PATIENCE)] == [Progress, Finished]
    front.outcome("echo", text="")
    assert [(type(news), news.id) for news in front.heard if isinstance(news, (Progress, Finished, Failed))] == [
        (Progress, run),
        (Finished, run),
        (Finished, run + 1),
    ]


def test_a_run_can_be_cancelled(open_front: Open) -> None:
    front = open_front()
    front.outcome("echo", text="")
    run = front.client.run("forever", {})
    front.client.cancel(run)
    (failure,) = front.client.events(run, PATIENCE)
    assert isinstance(failure, Failed)
    assert failure.code == "cancelled"


def test_a_run_that_still_waits_for_the_engine_can_be_given_up(open_front: Open) -> None:
    front = open_front("silent")
    run = front.client.run("echo", {})
    front.client.cancel(run)
    (failure,) = front.client.events(run, PATIENCE)
    assert isinstance(failure, Failed)
    assert failure.code == "cancelled"
    assert front.threads == {"engine"}


def test_an_engine_that_dies_fails_its_run_and_starts_again(open_front: Open) -> None:
    front = open_front()
    before = front.outcome("echo", text="before")
    failure = front.outcome("die")
    assert isinstance(failure, Failed)
    assert (failure.code, str(failure.message)) == (
        "crashed",
        "The engine ended in the middle of the run: it ended by itself with exit code 9. It starts again.",
    )
    after = front.outcome("echo", text="after")
    assert isinstance(before, Finished)
    assert isinstance(after, Finished)
    assert after.report.values["text"] == "after"
    assert after.report.values["process"] != before.report.values["process"]
    assert front.phases == ["starting", "ready", "restarting", "ready"]
    assert front.client.state.message is None


def test_three_quick_deaths_are_the_end_until_somebody_asks_again(
    open_front: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUTOR_HOME", str(tmp_path))
    front = open_front("refused")
    failure = front.outcome("echo", text="")
    assert isinstance(failure, Failed)
    assert str(failure.message) == "The engine does not start: gpu01: permission denied"
    assert front.phases == ["starting", "restarting", "failed"]
    assert front.client.state == EngineState("failed", failure.message)
    assert log_path().read_text().count("permission denied") == MOST_QUICK_DEATHS
    assert isinstance(front.outcome("echo", text=""), Failed)
    assert log_path().read_text().count("permission denied") == 2 * MOST_QUICK_DEATHS


def test_an_engine_that_lives_only_a_moment_is_given_up(open_front: Open) -> None:
    front = open_front("short-lived")
    front.client.start()
    state = front.wait_for_phase("failed")
    assert str(state.message) == "The engine does not start: it ended by itself with exit code 3"


def test_an_engine_that_babbles_is_given_up(open_front: Open) -> None:
    front = open_front("babble")
    front.client.start()
    state = front.wait_for_phase("failed")
    assert str(state.message) == "The engine does not start: what it writes is not what an engine says"


def test_another_protocol_is_refused_with_both_versions(open_front: Open) -> None:
    front = open_front("older")
    front.client.start()
    state = front.wait_for_phase("failed")
    assert str(state.message) == ("The engine speaks protocol 0 and this tutor 1; install the same version of both.")
    assert "restarting" not in front.phases


def test_while_a_command_starts_the_learner_sees_it_and_what_it_says(open_front: Open) -> None:
    front = open_front("banner")
    front.client.start()
    front.wait_for_phase("ready")
    command = f"{shlex.quote(sys.executable)} -m tests.unit.stub_engine banner"
    assert [str(state.message) for state in front.states] == [
        f"Waiting for: {command}",
        f"Waiting for: {command}, which says: You have mail.",
        "None",
    ]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("no-such-program", "x"), "The engine's program “no-such-program” is not there."),
        ((shlex.quote(__file__),), f"The engine's program “{__file__}” cannot be run: Permission denied."),
        (("python -c 'x",), "The quotation marks of the engine command do not match: python -c 'x"),
        ((" ",), "The engine command is empty."),
    ],
)
def test_a_command_that_cannot_be_started_is_told_in_one_sentence(command: tuple[str, ...], sentence: str) -> None:
    front = Front(*command)
    if len(command) == 1:  # as the learner types it
        front.client = EngineClient(front._hear, command=command[0])
    failure = front.outcome("echo", text="")
    assert isinstance(failure, Failed)
    assert (failure.code, str(failure.message)) == ("crashed", sentence)
    assert front.phases == ["starting", "failed"]
    front.client.close()


def test_the_engine_starts_in_the_folder_that_holds_it(open_front: Open) -> None:
    front = open_front(gpu_memory="4GiB")
    front.outcome("echo", text="")
    hello = next(news for news in front.heard if isinstance(news, Hello))
    assert hello.versions == {"arguments": "--gpu-memory 4GiB", "folder": str(HOME)}
    assert (HOME / "engine" / "host.py").exists()


def test_a_relative_path_in_the_command_is_the_learners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wrapper").touch()
    monkeypatch.chdir(tmp_path)
    assert words("bin/wrapper 'an argument' not/there") == [
        str(tmp_path / "bin" / "wrapper"),
        "an argument",
        "not/there",
    ]


def test_closing_ends_and_reaps_the_engine(open_front: Open) -> None:
    front = open_front()
    outcome = front.outcome("echo", text="")
    assert isinstance(outcome, Finished)
    front.client.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(outcome.report.values["process"]), 0)  # type: ignore[arg-type]
    assert front.client.state.phase == "stopped"


@pytest.mark.parametrize("manner", ["stubborn", "silent"])
def test_closing_an_engine_that_does_not_listen_takes_at_most_two_seconds(open_front: Open, manner: str) -> None:
    front = open_front(manner)
    front.client.start()
    front.wait_until(lambda: manner == "silent" or any(isinstance(news, Hello) for news in front.heard))
    start = time.monotonic()
    front.client.close()
    assert time.monotonic() - start < 2.0
    front.client.close()


def test_a_closed_client_starts_no_engine(open_front: Open) -> None:
    front = open_front()
    front.client.close()
    front.client.start()
    assert front.heard == []


def test_waiting_for_a_reply_has_an_end(open_front: Open) -> None:
    front = open_front()
    run = front.client.run("forever", {})
    with pytest.raises(TimeoutError):
        list(front.client.events(run, 0.5))


def test_a_log_of_1_mb_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "new" / "engine.log"
    for text in (b"x" * (LARGEST + 1), b"second"):
        log = open_log(path)
        assert log is not None
        with log:
            log.write(text)
    assert path.read_bytes() == b"second"
    assert path.with_suffix(".log.1").stat().st_size == LARGEST + 1


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert open_log(tmp_path / "file" / "engine.log") is None
    assert last_line(tmp_path / "file" / "engine.log", 0) == ""


def test_the_log_lies_in_the_learners_home() -> None:
    assert log_path() == Path(os.environ["TUTOR_HOME"]) / "engine.log"


def test_a_line_for_the_learner_holds_no_control_characters() -> None:
    assert clean_last_line("first\n\x1b[31mno route\x07 to gpu01\x1b[0m\n \n") == "[31mno route to gpu01[0m"
    assert clean_last_line(b"\xff\xfe") == "��"
    assert clean_last_line("") == ""
