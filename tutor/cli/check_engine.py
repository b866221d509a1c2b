"""How `tutor doctor` tries the engine: it starts one, waits for its greeting and its devices, and ends it."""

from __future__ import annotations

import queue
import shlex
import sys
import time
from argparse import Namespace

from engine.contract.message import Message, say
from engine.contract.protocol import Device, Devices, Hello, Reply
from tutor.cli.checks import Facts, Section
from tutor.cli.engine import engine_command
from tutor.engine_client.client import EngineClient, EngineState
from tutor.engine_client.log import log_path

PATIENCE = 90.0  # seconds; a cluster's queue may take longer, and Ctrl+C ends the wait


def check_engine(options: Namespace) -> Section:
    """Start the engine and say how long it took, what it runs on and with."""
    command = engine_command(options.engine)
    facts: Facts = {
        "command": (say("command"), shlex.join(command or [sys.executable, "-m", "engine"])),
        "log": (say("log"), str(log_path())),
    }
    heard: queue.SimpleQueue[Reply | EngineState] = queue.SimpleQueue()
    client = EngineClient(heard.put, command=command, gpu_memory=options.gpu_memory)
    client.start()
    try:
        problem = _listen(heard, facts)
    finally:
        client.close()
    return Section("engine", say("Engine"), facts, (problem,) if problem else ())


def _listen(heard: queue.SimpleQueue[Reply | EngineState], facts: Facts) -> Message | None:
    """Take what the engine says until its devices are known; return what is wrong, or None."""
    start = time.monotonic()
    while (left := start + PATIENCE - time.monotonic()) > 0:
        try:
            reply = heard.get(timeout=left)
        except queue.Empty:
            break
        if isinstance(reply, Hello):
            facts["start"] = (say("greeting after"), say("{seconds:.2f} s", seconds=time.monotonic() - start))
            versions = ", ".join(f"{name} {version}" for name, version in reply.versions.items())
            facts["versions"] = (say("with"), versions)
            facts["labs"] = (say("labs"), ", ".join(reply.labs))
        elif isinstance(reply, Devices):
            facts["ready"] = (say("ready after"), say("{seconds:.2f} s", seconds=time.monotonic() - start))
            facts["devices"] = (say("devices"), "; ".join(map(_device, reply.devices)))
            facts["preferred"] = (say("auto means"), reply.preferred)
            return None
        elif isinstance(reply, EngineState) and reply.phase == "failed":
            return reply.message or say("The engine does not start.")
    return say("The engine has not answered within {seconds:.0f} s; its log may say why.", seconds=PATIENCE)


def _device(device: Device) -> str:
    return f"{device.id} ({device.name}, {device.free / 2**30:.1f} / {device.total / 2**30:.1f} GiB)"
