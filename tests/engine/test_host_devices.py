"""Which device a run takes, how much of it, and what happens when it is full. No accelerator is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from engine import worker as worker_module
from engine.contract.protocol import Device, Finished, Log, Reply, Run, Started
from engine.contract.report import Note, Report
from engine.contract.sizes import GIB, read_size
from engine.device import NoDevice, choose, out_of_memory, preferred, shared_limit
from engine.pipes import Kind, Work
from engine.worker import Worker
from tests.engine import fake_labs

CPU = Device("cpu", "a processor", 8 * GIB, 16 * GIB)
SMALL = Device("cuda:0", "a card", 3 * GIB, 24 * GIB)
LARGE = Device("cuda:1", "a card", 20 * GIB, 24 * GIB)
MPS = Device("mps", "a Mac", 8 * GIB, 16 * GIB)


@pytest.mark.parametrize(
    ("asked", "devices", "chosen"),
    [
        ("auto", (CPU,), "cpu"),
        ("auto", (CPU, MPS), "mps"),
        ("auto", (CPU, SMALL, LARGE), "cuda:1"),
        ("cuda", (CPU, SMALL, LARGE), "cuda:1"),
        ("cuda:0", (CPU, SMALL, LARGE), "cuda:0"),
        ("cpu", (CPU, SMALL), "cpu"),
        ("mps", (CPU, MPS), "mps"),
    ],
)
def test_auto_takes_the_card_with_most_free_memory(asked: str, devices: tuple[Device, ...], chosen: str) -> None:
    assert choose(asked, "any", devices) == chosen


def test_auto_is_told_as_what_it_means() -> None:
    assert [preferred(devices) for devices in ((CPU,), (CPU, MPS), (CPU, SMALL, LARGE))] == ["cpu", "mps", "cuda:1"]


@pytest.mark.parametrize("asked", ["auto", "cpu", "cuda", "cuda:0"])
def test_an_analytic_lab_stays_on_the_cpu(asked: str) -> None:
    assert choose(asked, "cpu", (CPU, SMALL)) == "cpu"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("cuda", "There is no device cuda on the engine's machine; it has: cpu, mps."),
        ("cuda:2", "There is no device cuda:2 on the engine's machine; it has: cpu, mps."),
        ("tpu", "There is no device “tpu”; choose auto, cpu, cuda, cuda:N or mps."),
        ("cuda:", "There is no device “cuda:”; choose auto, cpu, cuda, cuda:N or mps."),
    ],
)
@pytest.mark.parametrize("runs_on", ["cpu", "any"])
def test_a_device_that_is_not_there_is_refused_in_one_sentence(asked: str, sentence: str, runs_on: Any) -> None:
    with pytest.raises(NoDevice) as refusal:
        choose(asked, runs_on, (CPU, MPS))
    assert str(refusal.value) == sentence


def test_of_a_shared_card_we_take_a_tenth_of_what_is_free_and_at_most_2_gib() -> None:
    assert [shared_limit(free) for free in (0, 10 * GIB, 20 * GIB, 80 * GIB)] == [0, GIB, 2 * GIB, 2 * GIB]


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 * GIB), ("4 gb", 4 * GIB), ("512M", 512 << 20), ("1.5g", 3 * GIB // 2), ("1000000", 1_000_000)],
)
def test_an_amount_of_memory_is_read(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "4 GiB of it", "0", "0G"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no amount of memory; write it like 4GiB or 512MiB"):
        read_size(text)


def test_out_of_memory_is_recognised_on_every_device() -> None:
    with pytest.raises(RuntimeError) as on_the_cpu:
        torch.empty(1 << 50)
    errors = [on_the_cpu.value, MemoryError(), torch.OutOfMemoryError(), RuntimeError("MPS backend out of memory")]
    assert [out_of_memory(error) for error in errors] == [True] * 4
    assert not out_of_memory(RuntimeError("shapes cannot be multiplied"))
    assert not out_of_memory(ValueError("out of memory"))


class Recorder:
    """Stands for the pipes of a worker with one run to do."""

    def __init__(self, work: Work) -> None:
        self._work = iter([work])
        self.sent: list[tuple[bytes, Reply]] = []
        self.cancelled = False

    def next_work(self) -> Work | None:
        return next(self._work, None)

    def should_stop(self) -> bool:
        return False

    def hold(self, message: Reply) -> None:
        self.sent.append((b"", message))

    def send(self, kind: bytes, message: Reply) -> None:
        self.sent.append((kind, message))


class FullCard(ModuleType):
    """Labs that find no room on a card."""

    @staticmethod
    def run_events(name: str, params: object, *, device: str, **_: object) -> Iterator[Report]:
        if device != "cpu":
            raise torch.OutOfMemoryError("CUDA out of memory")
        yield Report((), {"process": os.getpid()}, device=device)


def test_a_run_that_finds_its_card_full_moves_to_the_cpu_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []
    monkeypatch.setattr(worker_module, "prepare", lambda device, gpu_memory: None)
    monkeypatch.setattr(worker_module, "release", released.append)
    pipes = Recorder(Work(Run(5, "anywhere", {}), (CPU, SMALL)))
    Worker(pipes, fake_labs, FullCard("full"), None).serve()  # type: ignore[arg-type]
    assert released == ["cuda:0"]
    assert [kind for kind, _ in pipes.sent] == [Kind.READY, Kind.STARTED, Kind.EVENT, b"", Kind.LAST]
    _, first, log, second, last = (message for _, message in pipes.sent)
    assert (first, second) == (Started(5, "cuda:0"), Started(5, "cpu"))
    assert isinstance(log, Log)
    assert isinstance(last, Finished)
    (note,) = last.report.panels
    assert isinstance(note, Note)
    assert last.report.device == "cpu"
    assert str(note.text) == "cuda:0 had too little free memory, so this ran on the CPU."
