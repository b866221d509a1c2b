"""Learners' code in the engine process: limits hold, and the engine goes on whatever the code does."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from engine.contract.protocol import Cancel, Failed, Finished, Probe, Ready, View
from tests.engine.talk import Talk, marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks processes up in /proc")


@pytest.fixture(scope="module")
def shared() -> Iterator[Talk]:
    talk = Talk()
    talk.wait_for(Ready)
    yield talk
    talk.end()


@pytest.fixture
def engine(shared: Talk) -> Iterator[Talk]:
    yield shared
    assert shared.result("result", text="after").report.values["text"] == "after"
    assert len(marked(shared.mark)) <= 4  # host, fork server, worker, perhaps a spare: no child is left


def send(talk: Talk, source: str, seconds: float = 20.0, memory: int = 1 << 30) -> int:
    talk._last_run += 1
    talk.send(Probe(talk._last_run, "my.py", source, "", "a b c", 0, seconds, memory))
    return talk._last_run


def failure(talk: Talk, source: str, seconds: float = 20.0, memory: int = 1 << 30) -> Failed:
    outcome = talk.outcome(send(talk, source, seconds, memory))
    assert isinstance(outcome, Failed), outcome
    return outcome


def test_a_function_is_probed_in_a_process_that_is_gone_afterwards(engine: Talk) -> None:
    source = "import os\ndef f(x): return x * 2\nprint(os.getpid())"
    outcome = engine.outcome(send(engine, source))
    assert isinstance(outcome, Finished)
    assert outcome.report.values["output_shape"] == [1.0, 3.0, 16.0]
    assert outcome.report.seconds > 0


def test_a_loop_without_end_is_stopped_in_time_and_others_are_answered_meanwhile(engine: Talk) -> None:
    start = time.monotonic()
    probe = send(engine, "while True: pass", seconds=1.5)
    assert engine.result("result", text="meanwhile").report.values["text"] == "meanwhile"
    outcome = engine.outcome(probe)
    assert isinstance(outcome, Failed)
    assert (outcome.code, str(outcome.message)) == ("timeout", "It did not end within 1.5 s and was stopped.")
    assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    "source",
    ["import torch\ntorch.zeros(10**10)", "x = bytearray(3 << 30)", "def f(x): return x.new_zeros(1 << 30).sum() + x"],
)
def test_more_memory_than_allowed_is_told_in_one_sentence(engine: Talk, source: str) -> None:
    outcome = failure(engine, source)
    assert (outcome.code, str(outcome.message)) == ("out-of-memory", "It needs more than the 1 GiB it may take.")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("open('big', 'wb').write(bytes(1 << 22))", "my.py, line 1: OSError: [Errno 27] File too large"),
        ("files = [open('/dev/null') for _ in range(500)]", "my.py, line 1: OSError: [Errno 24] Too many open files"),
        ("import ctypes; ctypes.string_at(0)", "It ended in the middle: it used memory that is not its own"),
        ("import os; os._exit(3)", "It ended in the middle: it ended by itself with exit code 3."),
        ("x = (", "my.py, line 1: '(' was never closed."),
    ],
)
def test_what_the_code_does_to_its_process_ends_there(engine: Talk, source: str, sentence: str) -> None:
    assert str(failure(engine, source).message).startswith(sentence)


def test_a_small_file_may_be_written_and_does_not_stay(engine: Talk) -> None:
    source = "import os\nopen('note', 'w').write('x')\nprint(os.getcwd())\ndef f(x): return x"
    outcome = engine.outcome(send(engine, source))
    assert isinstance(outcome, Finished)
    (folder,) = (str(panel.text.values["text"]) for panel in outcome.report.panels if panel.id == "printed")  # type: ignore[union-attr]
    assert "tutor-probe-" in folder
    assert not os.path.exists(folder)


def test_cancelling_ends_the_child_at_once(engine: Talk) -> None:
    probe = send(engine, "while True: pass", seconds=60)
    time.sleep(0.5)
    start = time.monotonic()
    engine.send(Cancel(probe))
    outcome = engine.outcome(probe)
    assert isinstance(outcome, Failed)
    assert outcome.code == "cancelled"
    assert time.monotonic() - start < 1.0


def test_two_at_once_are_both_answered(engine: Talk) -> None:
    first = send(engine, "import time; time.sleep(0.5)\ndef f(x): return x")
    second = send(engine, "def f(x): return x")
    outcomes: dict[int, type] = {}
    while len(outcomes) < 2:
        reply = engine.reply()
        if isinstance(reply, (Finished, Failed)):
            outcomes[reply.id] = type(reply)
    assert outcomes == {first: Finished, second: Finished}


def test_a_large_file_of_tensors_arrives_and_a_damaged_one_is_told(engine: Talk) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(5_000_000, dtype=np.float64))  # 40 MB
    for data, kind in ((buffer.getvalue(), Finished), (b"nothing of the kind", Failed)):
        engine._last_run += 1
        engine.send(View(engine._last_run, "numbers.npy", data))
        assert isinstance(engine.outcome(engine._last_run), kind)
