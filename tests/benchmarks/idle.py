"""CPU of a tutor that nobody touches (engine and all), against the bare app beside it in the same seconds."""

from __future__ import annotations

import time

from tests.benchmarks.anchors.label_app import MARKER
from tests.benchmarks.learner import used_home
from tests.benchmarks.memory import session
from tests.benchmarks.row import Row, single
from tests.benchmarks.startup import LABEL_APP, WITH_LAB
from tests.benchmarks.terminal import LARGE, Terminal, cpu_seconds


def measure(rounds: int) -> list[Row]:
    """Return the row; `rounds` seconds are slept (60 and more tell most)."""
    with used_home(WITH_LAB, predicted=True) as home, session(home) as tutor, Terminal(LABEL_APP, LARGE) as label:
        label.wait_for(MARKER)
        tutor.settle(3.0)
        pids = [tutor.pid, *tutor.children()]
        before = sum(map(cpu_seconds, pids)), label.cpu()
        start = time.perf_counter()
        time.sleep(rounds)
        after = sum(map(cpu_seconds, pids)), label.cpu()
        seconds = time.perf_counter() - start
    mine, theirs = ((late - early) / seconds * 100 for early, late in zip(before, after, strict=True))
    name = f"idle for {rounds} s, UI and engine"
    return [single(name, mine, theirs, "% of a core", budget=1.5, against="a Textual app with one Label")]
