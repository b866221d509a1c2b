"""The whole way, from a front end's client to torch and back, with real processes."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.contract import labs
from engine.contract.protocol import Failed, Finished, Hello
from engine.contract.report import Progress
from tests.engine.talk import FAKE_ENGINE, MARK, ROOT, left_after, marked
from tutor.engine_client.client import EngineClient

PATIENCE = 60.0


def first_outcome(client: EngineClient, lab: str, **params: object) -> Finished | Failed:
    *_, last = client.events(client.run(lab, params), PATIENCE)
    assert isinstance(last, (Finished, Failed))
    return last


@pytest.fixture
def wrapper(tmp_path: Path) -> str:
    """A script that greets, as a login shell does, and then becomes the engine."""
    script = tmp_path / "wrapper"
    script.write_text(
        "#!/bin/sh\necho 'Welcome to gpu01'\necho 'module load: 你好' >&2\n"
        f'"{sys.executable}" -m engine "$@"\necho "the engine left"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


@pytest.fixture(params=["our own", "env", "wrapper"])
def command(request: pytest.FixtureRequest, wrapper: str) -> str | None:
    return {"our own": None, "env": f"env {shlex.quote(sys.executable)} -m engine", "wrapper": wrapper}[request.param]


def test_a_lab_runs_through_any_command_whose_stdio_is_an_engine(
    command: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """… from a folder whose modules would replace the library's and the engine's own."""
    for name in ("engine", "random", "torch", "msgspec", "selectors", "json", "host"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('imported the learner’s {name}.py')")
    monkeypatch.chdir(tmp_path)
    heard: list[object] = []
    client = EngineClient(heard.append, command=command, gpu_memory="1GiB")
    outcome = first_outcome(client, "sdpa")
    assert isinstance(outcome, Finished), outcome
    assert all(invariant.holds is not False for invariant in outcome.report.invariants)
    assert outcome.report.device == "cpu"
    assert next(news for news in heard if isinstance(news, Hello)).labs == labs.names()
    client.close()


def test_a_module_of_the_learners_beside_the_engine_does_not_replace_the_librarys(tmp_path: Path) -> None:
    """In a checkout the engine's folder is the learner's too."""
    (tmp_path / "engine").symlink_to(ROOT / "engine")
    (tmp_path / "random.py").write_text("raise SystemExit('imported the learner’s random.py')")
    done = subprocess.run(
        [sys.executable, "-m", "engine"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"TUTOR\0\1\n")


def test_bad_input_comes_back_as_a_sentence_of_the_contract() -> None:
    client = EngineClient(lambda news: None)
    outcome = first_outcome(client, "heads", embed_size=256, heads=3)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.field) == ("invalid", "heads")
    client.close()


def test_an_engine_that_is_killed_in_the_middle_of_a_run_comes_back() -> None:
    client = EngineClient(lambda news: None, command=FAKE_ENGINE)
    process = first_outcome(client, "result").report.values["process"]  # type: ignore[union-attr]
    run = client.run("deaf", {})
    replies = client.events(run, PATIENCE)
    assert any(isinstance(reply, Progress) for reply in replies)
    os.killpg(os.getpgid(int(process)), signal.SIGKILL)  # type: ignore[arg-type]
    failure = list(client.events(run, PATIENCE))[-1]
    assert isinstance(failure, Failed)
    assert failure.code == "crashed"
    assert "it was killed from outside; it was probably out of memory" in str(failure.message)
    assert isinstance(first_outcome(client, "result"), Finished)
    client.close()


FRONT_END = """
import sys, time
from engine.contract.report import Progress
from tutor.engine_client.client import EngineClient
client = EngineClient(lambda news: None, command=sys.argv[1:])
for reply in client.events(client.run("deaf-native", {}), 60):
    if isinstance(reply, Progress):
        print("running", flush=True)
"""


@pytest.fixture
def front_end() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A front end in the middle of a run that listens to nobody, and the mark of its processes."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-c", FRONT_END, *FAKE_ENGINE],
        cwd=ROOT,
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "running\n"
    assert len(marked(mark)) >= 4  # itself, host, fork server, worker
    yield process, mark
    process.kill()
    process.communicate()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks processes up in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_killing_the_front_end_in_the_middle_of_a_run_leaves_no_process(
    front_end: tuple[subprocess.Popen[str], str], number: signal.Signals
) -> None:
    process, mark = front_end
    process.send_signal(number)
    process.wait()
    assert left_after(mark, 2.0) == set()


def test_the_engine_says_to_a_person_what_it_is_for() -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "engine"], cwd=ROOT, stdin=theirs, capture_output=True, text=True, timeout=30
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("The engine talks to tutor, not to a person: start `tutor`")


@pytest.mark.parametrize("size", ["lots", "-1", "0"])
def test_an_amount_of_memory_that_cannot_be_read_is_refused(size: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine", f"--gpu-memory={size}"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    assert f"“{size}” is no amount of memory; write it like 4GiB or 512MiB" in done.stderr
