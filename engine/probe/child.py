"""The child that answers one request about a learner's file and ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import traceback
from collections.abc import Iterator

from msgspec.structs import replace

from engine.contract.message import say
from engine.contract.protocol import Decoder, Errand, Failed, Finished, FramingError, Probe, Ready
from engine.contract.report import Report
from engine.device import out_of_memory
from engine.pipes import Kind, WorkerEnd
from engine.probe import limits
from engine.probe.refusal import Refused


def answer(requests: int, replies: int) -> None:
    """Say that the child is there, read one request, answer it."""
    pipes = WorkerEnd(requests, replies)
    pipes.send(Kind.READY, Ready())
    request = _receive(requests)
    if request is None:  # the host is gone
        return
    try:
        pipes.send(Kind.LAST, _answered(request))
    except FramingError:
        message = say("The result is too large to be shown; choose a shorter text or a smaller model.")
        pipes.send(Kind.LAST, Failed(request.id, "invalid", message, "file"))


def _receive(requests: int) -> Errand | None:
    decoder = Decoder(Errand, preamble=False)
    while data := os.read(requests, 1 << 20):
        for request in decoder.feed(data):
            found: Errand = request
            return found
    return None


def _answered(request: Errand) -> Finished | Failed:
    memory = say("It needs more than the {gib:g} GiB it may take.", gib=request.memory / 2**30)
    try:
        with _within_limits(request):
            start = time.perf_counter()
            report = _report(request)
            return Finished(request.id, replace(report, seconds=time.perf_counter() - start))
    except Refused as refused:
        return Failed(request.id, "invalid", refused.message, refused.field)
    except MemoryError:
        return Failed(request.id, "out-of-memory", memory, "file")
    except Exception as error:
        if out_of_memory(error):
            return Failed(request.id, "out-of-memory", memory, "file")
        traceback.print_exc()
        message = say(
            "{file} cannot be looked at: {kind}: {reason} (the engine's log has the details).",
            file=request.file,
            kind=type(error).__name__,
            reason=(str(error).splitlines() or [""])[0][:200],
        )
        return Failed(request.id, "error", message, "file")


def _report(request: Errand) -> Report:
    if isinstance(request, Probe):
        from engine.probe.model import probe

        return probe(request)
    from engine.probe.view import view

    return view(request)


@contextlib.contextmanager
def _within_limits(request: Errand) -> Iterator[None]:
    """Limit the process, and remove what it wrote in the folder it was left in."""
    limits.apply(request.seconds, request.memory)
    try:
        yield
    finally:
        shutil.rmtree(os.getcwd(), ignore_errors=True)
