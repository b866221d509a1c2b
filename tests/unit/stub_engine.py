"""Engines of a few lines, without torch, for the tests of the client: `python -m tests.unit.stub_engine MANNER`."""

from __future__ import annotations

import os
import sys
import time

from engine.contract.message import say
from engine.contract.protocol import (
    PREAMBLE,
    PROTOCOL,
    Cancel,
    Close,
    Decoder,
    Device,
    Devices,
    Failed,
    Finished,
    Hello,
    Ready,
    Reply,
    Request,
    Run,
    encode,
)
from engine.contract.report import Progress, Report


def write(data: bytes) -> None:
    os.write(1, data)


def reply(message: Reply) -> None:
    write(encode(message))


def answer(request: Request) -> None:
    """Be an engine whose labs are called after what they do."""
    if isinstance(request, Close):
        sys.exit(0)
    if isinstance(request, Cancel):
        reply(Failed(request.id, "cancelled", say("The run was cancelled.")))
    if not isinstance(request, Run):
        return
    if request.lab == "echo":
        reply(Finished(request.id, Report((), {"text": request.params["text"], "process": os.getpid()})))
    elif request.lab == "chatter":  # speaks on after its last word, and of runs that nobody asked for
        for id in (request.id, request.id + 50):
            reply(Progress(0.5, say("size"), id=id))
            reply(Finished(id, Report((), {})))
            reply(Progress(0.7, say("size"), id=id))
            reply(Failed(id, "error", say("size")))
    elif request.lab == "die":
        os._exit(9)


def main(manner: str) -> None:
    if manner == "banner":
        print("Welcome to gpu01\nYou have mail.", flush=True)
        time.sleep(0.2)
    if manner == "silent":
        time.sleep(60)
    if manner == "refused":
        sys.exit("gpu01: permission denied")
    if manner == "older":
        write(PREAMBLE.replace(bytes([PROTOCOL]), b"\0"))
    if manner == "stubborn":
        write(PREAMBLE)
        reply(Hello(PROTOCOL, {}, ()))
        while True:
            time.sleep(60)
    write(PREAMBLE)
    reply(Hello(PROTOCOL, {"arguments": " ".join(sys.argv[2:]), "folder": os.getcwd()}, ("echo",)))
    reply(Devices((Device("cpu", "a processor", 1, 2),), "cpu"))
    reply(Ready())
    if manner == "babble":
        write(b"Segmentation fault")
    if manner == "short-lived":
        sys.exit(3)
    decoder = Decoder(Request, preamble=False)
    while data := os.read(0, 65536):
        for request in decoder.feed(data):
            answer(request)


if __name__ == "__main__":
    main(sys.argv[1])
