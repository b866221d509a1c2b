"""The children of the fork server: the lab worker, which computes one run after another, and the look for devices."""

from __future__ import annotations

import faulthandler
import os
import sys
import traceback
from importlib import import_module
from types import ModuleType

from msgspec.structs import replace

from engine.contract.declarations import Lab
from engine.contract.labs import UnknownLab
from engine.contract.message import Message, say
from engine.contract.parameters import InvalidParameters, Params, Problem, build, read_seed
from engine.contract.protocol import Devices, Failed, Finished, FramingError, Log, Ready, Run, Started
from engine.contract.report import Note, Report
from engine.device import NoDevice, choose, found, out_of_memory, preferred, prepare, release, too_large
from engine.pipes import Kind, Work, WorkerEnd


def preload(declarations: str, labs: str) -> None:
    """In the fork server: load torch and every lab, and pay for the first operations that torch is slow at.

    A lab that cannot be loaded fails when it is run.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's would start its threads on import
    try:
        import torch
    except ImportError as error:
        print(f"PyTorch cannot be loaded by {sys.executable}: {error}", file=sys.stderr)
        return
    torch.set_num_threads(1)
    for module in import_module(declarations).MODULES.values():
        _load(f"{labs}.{module}")
    draw = torch.randn(8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.softmax(draw @ draw.T, dim=-1).sum().item()


def _load(lab: str) -> None:
    try:
        import_module(lab)
    except Exception:
        traceback.print_exc()


def work(requests: int, replies: int, *, declarations: str, labs: str, gpu_memory: int | None) -> None:
    """Compute the runs that come in on `requests` until it closes."""
    faulthandler.enable()
    if "torch" not in sys.modules:  # a fresh interpreter
        preload(declarations, labs)
    Worker(WorkerEnd(requests, replies), import_module(declarations), import_module(labs), gpu_memory).serve()


def report_devices(requests: int, replies: int) -> None:
    """Tell what this machine has to compute on.

    A process of its own: asking a CUDA card for its free memory makes a context of some hundred MB on it, on every
    card, and only the end of the process gives that back.
    """
    devices = found()
    WorkerEnd(requests, replies).send(Kind.EVENT, Devices(devices, preferred(devices)))


class Worker:
    """Checks a run, computes it, tells what came of it."""

    def __init__(self, pipes: WorkerEnd, declarations: ModuleType, labs: ModuleType, gpu_memory: int | None) -> None:
        self._pipes = pipes
        self._declarations = declarations
        self._labs = labs
        self._gpu_memory = gpu_memory

    def serve(self) -> None:
        """Take runs until the host is gone."""
        self._pipes.send(Kind.READY, Ready())
        while work := self._pipes.next_work():
            self._answer(work)

    def _answer(self, work: Work) -> None:
        try:
            self._pipes.send(Kind.LAST, self._finish(work))
        except Exception as error:
            self._pipes.send(Kind.LAST, self._failure(work.run, error))

    def _finish(self, work: Work) -> Finished | Failed:
        """Compute a run; when its accelerator has no memory left, once more on the CPU."""
        run = work.run
        lab: Lab = self._declarations.declaration(run.lab)
        params = build(lab.parameters, run.params, run.language)
        seed = read_seed(run.seed)
        if isinstance(seed, Message):
            raise InvalidParameters([Problem("seed", seed)])
        device = choose(run.device, lab.runs_on, work.devices)
        if refusal := too_large(lab.estimate(params).bytes):
            return Failed(run.id, "out-of-memory", refusal)
        try:
            return Finished(run.id, self._compute(run, lab, params, seed, device))
        except Exception as error:
            if device == "cpu" or not out_of_memory(error):
                raise
            self._pipes.send(Kind.EVENT, Log(f"{device}: {error}"))
        release(device)
        report = self._compute(run, lab, params, seed, "cpu")
        moved = Note("moved-to-cpu", say("{device} had too little free memory, so this ran on the CPU.", device=device))
        return Finished(run.id, replace(report, panels=(*report.panels, moved)))

    def _compute(self, run: Run, lab: Lab, params: Params, seed: int, device: str) -> Report:
        started = Started(run.id, device)
        if device == "cpu" and not lab.trains:  # over in a moment, or soon to tell how far it is
            self._pipes.hold(started)
        else:
            self._pipes.send(Kind.STARTED, started)
        prepare(device, self._gpu_memory)
        for event in self._labs.run_events(
            run.lab,
            params,
            seed=seed,
            device=device,
            language=run.language,
            should_stop=self._pipes.should_stop,
        ):
            if isinstance(event, Report):
                return event
            self._pipes.send(Kind.EVENT, replace(event, id=run.id))
        raise RuntimeError("the lab ended without a report")

    def _failure(self, run: Run, error: Exception) -> Failed:
        """Put what went wrong into words; the traceback of a fault of ours goes to the log."""
        if self._pipes.cancelled:
            return Failed(run.id, "cancelled", say("The run was cancelled."))
        if isinstance(error, InvalidParameters):
            problem = error.problems[0]
            return Failed(run.id, "invalid", problem.message, problem.field)
        if isinstance(error, UnknownLab):
            return Failed(run.id, "unknown-lab", error.message)
        if isinstance(error, NoDevice):
            return Failed(run.id, "no-device", error.message, "device")
        traceback.print_exc()
        if out_of_memory(error):
            return Failed(run.id, "out-of-memory", say("The machine has too little free memory for this run."))
        if "MPS" in str(error) and "float64" in str(error):
            message = say("This lab computes in float64, which mps does not have; run it on the device cpu.")
            return Failed(run.id, "no-device", message, "device")
        return Failed(run.id, "error", _in_words(run.lab, error))


def _in_words(lab: str, error: Exception) -> Message:
    if isinstance(error, ImportError) and error.name == "torch":
        return say("The engine's Python, {python}, cannot load PyTorch; install torch there.", python=sys.executable)
    if isinstance(error, FramingError):
        return say("The result of the lab {lab} is too large to be shown; choose smaller parameters.", lab=lab)
    lines = str(error).splitlines() or [""]
    return say(
        "The lab {lab} failed with {kind}: {reason} (the engine's log has the details).",
        lab=lab,
        kind=type(error).__name__,
        reason=lines[0][:200],
    )
