"""What becomes of the engine's processes: nothing of them is left, whoever dies first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from engine.contract.protocol import LARGEST_FRAME, Cancel, Close, Failed, Ready
from engine.contract.report import Progress
from tests.engine.talk import ROOT, Talk, left_after, marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks processes up in /proc")


def busy(lab: str) -> Talk:
    """Return an engine in the middle of a run."""
    talk = Talk()
    talk.run(lab)
    talk.wait_for(Progress)
    assert len(marked(talk.mark)) >= 3  # host, fork server, worker
    return talk


@pytest.mark.parametrize("lab", ["deaf", "deaf-native"])
def test_killing_the_host_in_the_middle_of_a_run_leaves_no_process(lab: str) -> None:
    talk = busy(lab)
    talk.process.kill()
    assert left_after(talk.mark, 2.0) == set()
    talk.end()


def test_killing_the_host_while_torch_is_loading_leaves_no_process() -> None:
    talk = Talk()
    talk.reply()
    talk.process.kill()
    assert left_after(talk.mark, 2.0) == set()
    talk.end()


@pytest.mark.parametrize("lab", ["deaf", "deaf-native"])
def test_closing_stdin_in_the_middle_of_a_run_ends_everything(lab: str) -> None:
    talk = busy(lab)
    code, _ = talk.end()
    assert code == 0
    assert left_after(talk.mark, 2.0) == set()


def test_close_ends_everything() -> None:
    talk = busy("deaf")
    talk.send(Close())
    assert talk.process.wait(2) == 0
    assert left_after(talk.mark, 2.0) == set()
    talk.end()


def test_ctrl_c_does_not_end_the_engine() -> None:
    talk = Talk()
    talk.wait_for(Ready)
    os.killpg(talk.process.pid, signal.SIGINT)
    assert talk.result("result").report.values["text"] == "hello"
    assert talk.end()[0] == 0


@pytest.mark.parametrize("lab", ["deaf", "deaf-native"])
def test_the_engine_survives_the_death_of_its_fork_server(lab: str) -> None:
    talk = busy(lab)
    fork_server = sorted(marked(talk.mark))[1]
    os.kill(fork_server, signal.SIGKILL)
    failure = talk.wait_for(Failed)
    assert failure.code == "crashed"
    assert "the process that had loaded PyTorch ended" in str(failure.message)
    assert talk.result("result").report.values["text"] == "hello"
    talk.end()
    assert left_after(talk.mark, 2.0) == set()


def test_an_engine_whose_workers_never_get_ready_gives_up_with_a_reason() -> None:
    script = "from engine.host import serve; serve(declarations='tests.engine.fake_labs', labs='nowhere')"
    talk = Talk((sys.executable, "-c", script))
    with pytest.raises(EOFError):
        talk.wait_for(Ready)
    code, errors = talk.end()
    assert code == 1
    assert errors.splitlines()[-1] == ("The engine ends: no worker gets ready: it ended by itself with exit code 1")


def test_an_engine_without_pytorch_says_so_when_a_lab_is_run() -> None:
    script = "import sys; sys.modules['torch'] = None; from engine.host import serve; serve()"
    talk = Talk((sys.executable, "-c", script))
    failure = talk.failure("sdpa")
    assert (failure.code, str(failure.message)) == (
        "error",
        f"The engine's Python, {sys.executable}, cannot load PyTorch; install torch there.",
    )
    assert talk.end()[0] == 0


@pytest.mark.parametrize(
    ("nonsense", "reason"),
    [
        ((LARGEST_FRAME + 1).to_bytes(4, "big"), "a frame of 67,108,865 bytes is larger than 67,108,864"),
        (b"\0\0\0\1\xc1", "not a message"),
    ],
)
def test_what_is_no_request_ends_the_engine_with_a_reason(nonsense: bytes, reason: str) -> None:
    talk = Talk()
    talk.send_bytes(nonsense)
    assert talk.process.wait(5) == 1
    assert reason in talk.end()[1].splitlines()[-1]


def test_the_log_holds_the_traceback_and_the_prints_of_a_lab() -> None:
    talk = Talk()
    talk.failure("fails")
    talk.result("noisy")
    _, errors = talk.end()
    assert "ZeroDivisionError: the middle of" in errors
    assert {"printed in Python", "printed in C", "written to descriptor 1"} <= set(errors.splitlines())


def test_the_replacement_of_a_long_run_is_ready_before_anybody_waits_for_it() -> None:
    talk = Talk()
    talk.result("anywhere")  # the look for devices is over
    at_first = set(marked(talk.mark))
    run = talk.run("polite", size=100_000)
    deadline = time.monotonic() + 10
    while len(replacements := set(marked(talk.mark)) - at_first) < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    talk.send(Cancel(run))
    talk.outcome(run)
    talk.outcome(talk.run("segfault"))
    assert {talk.result("result").report.values["process"]} == replacements
    talk.end()


def test_children_can_be_fresh_interpreters_where_a_fork_would_not_do() -> None:
    script = """
import os, select
from engine.forkserver import ForkServer
server = ForkServer("", {}, fresh=True)
reader, writer = os.pipe()
server.start("tests.engine.test_host_processes:write", {"text": "from a fresh interpreter"}, [writer])
os.close(writer)
print(os.read(reader, 100).decode())
select.select([server], [], [])
print(server.news())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines() == ["from a fresh interpreter", "[Exited(number=1, code=0)]"], done.stderr


def write(fd: int, *, text: str) -> None:
    """Be the child of the test above."""
    os.write(fd, text.encode())
    time.sleep(0.01)
