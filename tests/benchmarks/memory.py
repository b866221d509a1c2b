"""Memory of whole sessions (UI, engine host, its server and worker), shared pages counted by their share (PSS)."""

from __future__ import annotations

import statistics
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.learner import used_home
from tests.benchmarks.row import Row, single
from tests.benchmarks.startup import RESULT, WITH_LAB
from tests.benchmarks.terminal import LARGE, TUTOR, Terminal

TORCH_ALONE = (sys.executable, "-c", "import torch; print('IMPOR' + 'TED', flush=True); input()")
SESSIONS = 10


def measure(rounds: int) -> list[Row]:
    """Return the rows of one session and of ten at once."""
    with used_home(WITH_LAB, predicted=True) as home:
        mine, alone, maps_torch = [], [], False
        for _ in range(3):
            with Terminal(TORCH_ALONE) as torch:
                torch.wait_for("IMPORTED")
                alone.append(_mebibytes([torch.pid]))
            with session(home) as tutor:
                mine.append(_mebibytes([tutor.pid, *tutor.children()]))
                maps_torch = maps_torch or "libtorch" in Path(f"/proc/{tutor.pid}/maps").read_text()
        with ExitStack() as stack:
            sessions = [stack.enter_context(session(home)) for _ in range(SESSIONS)]
            ten = _mebibytes([pid for session in sessions for pid in (session.pid, *session.children())])
    torch_alone = statistics.median(alone)
    claims = (("the UI never maps libtorch", not maps_torch),)
    return [
        single(
            "memory of a whole session (PSS)",
            statistics.median(mine),
            torch_alone,
            "MiB",
            budget=1.35,
            against="python -c 'import torch'",
            claims=claims,
        ),
        single(
            f"memory of {SESSIONS} sessions (PSS)", ten, torch_alone, "MiB", limit=2.6 * 1024, against="one of them"
        ),
    ]


def session(home: Path) -> Terminal:
    """Return a tutor whose lab has shown its result."""
    terminal = Terminal([*TUTOR, WITH_LAB], LARGE, home)
    terminal.wait_for(RESULT, seconds=180)
    terminal.settle(0.5)
    return terminal


def _mebibytes(pids: list[int]) -> float:
    """Return the proportional set size of processes together."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024
