"""CPU of the UI process for showing a new heatmap, key to rest, against the way of textual-plotext."""

from __future__ import annotations

import sys

from tests.benchmarks.maps import MARKER
from tests.benchmarks.row import Row, paired
from tests.benchmarks.terminal import LARGE, Terminal

MINE = (sys.executable, "-m", "tests.benchmarks.map_app")
THEIRS = (sys.executable, "-m", "tests.benchmarks.anchors.plotext_app")
NEXT = b"N"


def measure(rounds: int) -> list[Row]:
    """Return the rows of a large map and of a sentence-sized one."""
    against = "plotext's matrix_plot with axes through Text.from_ansi, as textual-plotext does it"
    return [
        _new_map("UI CPU for a new 64×64 heatmap, 200×50", 64, 1 / 25, rounds, against),
        _new_map("UI CPU for a new 12×12 heatmap with labels, 200×50", 12, 1 / 3, rounds, against),
    ]


def _new_map(name: str, side: int, budget: float, rounds: int, against: str) -> Row:
    mine, theirs = [], []
    with Terminal([*MINE, str(side)], LARGE) as ours, Terminal([*THEIRS, str(side)], LARGE) as plotext:
        for terminal in (ours, plotext):
            terminal.wait_for(MARKER)
            for _ in range(3):  # the first ones fill caches
                terminal.settle(0.5)
                terminal.press(NEXT)
            terminal.settle(0.5)
        for _ in range(rounds):
            mine.append(cpu_of(ours, NEXT))
            theirs.append(cpu_of(plotext, NEXT))
    return paired(name, mine, theirs, "ms", budget=budget, against=against)


def cpu_of(terminal: Terminal, key: bytes) -> float:
    """Return the CPU milliseconds from a key until everything has been painted."""
    before = terminal.cpu()
    terminal.press(key)
    terminal.settle(0.25)
    return (terminal.cpu() - before) * 1e3
