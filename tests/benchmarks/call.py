"""A call to the engine with a result of 41 kB, there and back, against a raw pipe."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from engine.contract.protocol import Ready
from tests.benchmarks.anchors.raw_pipe import SIZE
from tests.benchmarks.row import Row, paired
from tests.engine.talk import ROOT, Talk

RAW_PIPE = (sys.executable, "-m", "tests.benchmarks.anchors.raw_pipe")
CALLS = 100


def measure(rounds: int) -> list[Row]:
    """Return the row: medians of rounds of calls, through host and worker as every lab runs."""
    mine, theirs = [], []
    talk = Talk()
    pipe = subprocess.Popen(RAW_PIPE, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        talk.wait_for(Ready)
        for _ in range(rounds):
            mine.append(_engine_call(talk))
            theirs.append(_pipe_call(pipe))
    finally:
        talk.end()
        pipe.communicate()
    name = "a call with a 41 kB result, both ways"
    return [paired(name, mine, theirs, "µs", limit=100, against="the same bytes through a raw pipe")]


def _engine_call(talk: Talk) -> float:
    """Return the microseconds of a call, the median of many."""
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        talk.result("result", size=SIZE // 8)
        taken.append(time.perf_counter() - start)
    talk.heard.clear()
    return statistics.median(taken) * 1e6


def _pipe_call(pipe: subprocess.Popen[bytes]) -> float:
    assert pipe.stdin
    assert pipe.stdout
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        pipe.stdin.write(b"\n")
        missing = SIZE
        while missing:
            missing -= len(os.read(pipe.stdout.fileno(), missing))
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e6
