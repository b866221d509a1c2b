"""Labs that misbehave, for the tests of the engine process: declarations and computations in one module."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Integer, Text
from engine.contract.labs import UnknownLab
from engine.contract.message import say
from engine.contract.parameters import Params
from engine.contract.report import Array, Bars, Event, Progress, Report

MODULES: dict[str, str] = {}


class FakeParams(Params, frozen=True, forbid_unknown_fields=True):
    """A size and a text, for labs to use as they like."""

    size: Annotated[int, Integer(say("size"), 0, 100_000_000)] = 1
    text: Annotated[str, Text(say("text"), zh="你好", en="hello")] = ""


class Stopped(Exception):
    """Raised by a polite lab that was told to stop."""


def result(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Give back the parameters, and as many numbers as `size` says."""
    numbers = Array("float64", (params.size,), bytes(8 * params.size))
    bars = Bars("numbers", say("numbers"), (), numbers, say("numbers"))
    yield Report((bars,), {"text": params.text, "process": os.getpid()})


def polite(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Count to `size` in steps of 5 ms and stop when told to."""
    for number in range(params.size):
        if should_stop():
            raise Stopped
        yield Progress(number / params.size, say("size"))
        time.sleep(0.005)
    yield Report((), {"counted": params.size})


def deaf(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Spin in Python and never ask."""
    yield Progress(0.0, say("size"))
    while True:
        pass


def deaf_native(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Sit in native code that holds Python's lock, so that no other thread of the process runs."""
    yield Progress(0.0, say("size"))
    ctypes.PyDLL(None).sleep(3600)


def segfault(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Read address 0."""
    yield Progress(0.0, say("size"))
    ctypes.string_at(0)


def killed(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """End as the kernel ends who takes too much memory."""
    yield Progress(0.0, say("size"))
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """End the process in the middle."""
    yield Progress(0.0, say("size"))
    os._exit(7)


def fails(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Raise as a programming fault does."""
    yield Progress(0.0, say("size"))
    raise ZeroDivisionError("the middle of\na fault")


def greedy(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Ask for more memory than there is."""
    import torch

    yield Report((), {"bytes": torch.empty(1 << 50).numel()})


def noisy(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """Print in Python, in C and to the bare descriptor, and read stdin."""
    print("printed in Python")
    libc = ctypes.CDLL(None)
    libc.puts(b"printed in C")
    libc.fflush(None)
    os.write(1, b"written to descriptor 1\n")
    yield Report((), {"read": sys.stdin.read()})


def endless(params: FakeParams, should_stop: Callable[[], bool]) -> Iterator[Event]:
    """End without a report."""
    yield Progress(0.0, say("size"))


LABS = {
    "result": result,
    "polite": polite,
    "training": polite,
    "deaf": deaf,
    "deaf-native": deaf_native,
    "segfault": segfault,
    "killed": killed,
    "leaves": leaves,
    "fails": fails,
    "greedy": greedy,
    "noisy": noisy,
    "endless": endless,
    "anywhere": result,
    "vast": result,
}


def names() -> tuple[str, ...]:
    """Return the names of the labs."""
    return tuple(LABS)


def declaration(name: str) -> Lab:
    """Return the declaration of the lab `name`."""
    if name not in LABS:
        raise UnknownLab(say("There is no lab “{name}”; `tutor labs` lists them.", name=name))
    return Lab(
        name,
        say("size"),
        say("text"),
        FakeParams,
        lambda params: Cost(1.0, 1 << 50 if name == "vast" else 0),
        (),
        runs_on="any" if name == "anywhere" else "cpu",
        trains=name == "training",
    )


def run_events(
    name: str, params: FakeParams, *, seed: int, device: str, language: str, should_stop: Callable[[], bool]
) -> Iterator[Event]:
    """Run the lab `name`."""
    yield from LABS[name](params, should_stop)
