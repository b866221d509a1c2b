"""From cancelling a lab that does not listen to an engine that is ready for the next run."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time

from engine.contract.protocol import Cancel, Failed, Ready
from engine.contract.report import Progress
from tests.benchmarks.row import Row, percentile, single
from tests.engine.talk import Talk

RESPAWN = (sys.executable, "-c", "import torch")


def measure(rounds: int) -> list[Row]:
    """Return the row; the engine is a real one, with a lab that spins for ever."""
    taken, respawns = [], []
    talk = Talk()
    try:
        talk.wait_for(Ready)
        for number in range(2 * rounds):
            taken.append(_cancelled(talk))
            talk.result("result")
            if number % rounds == 0:
                respawns.append(_respawned())
    finally:
        talk.end()
    return [
        single(
            "cancel a deaf run → ready for the next, p95",
            percentile(taken, 0.95),
            statistics.median(respawns),
            "ms",
            limit=50,
            against="a new Python that imports torch",
        )
    ]


def _cancelled(talk: Talk) -> float:
    """Return the milliseconds until the engine says that the run is cancelled, which it says once it is ready."""
    run = talk.run("deaf")
    talk.wait_for(Progress)
    time.sleep(random.uniform(0.05, 0.1))
    start = time.perf_counter()
    talk.send(Cancel(run))
    outcome = talk.outcome(run)
    taken = time.perf_counter() - start
    assert isinstance(outcome, Failed)
    assert outcome.code == "cancelled"
    return taken * 1e3


def _respawned() -> float:
    start = time.perf_counter()
    subprocess.run(RESPAWN, check=True)
    return (time.perf_counter() - start) * 1e3
