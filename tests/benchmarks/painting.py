"""Bytes written to the terminal, against the changed cells alone."""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks.cells import grid, least_bytes
from tests.benchmarks.heatmap import MINE, NEXT
from tests.benchmarks.learner import marker, used_home
from tests.benchmarks.maps import MARKER
from tests.benchmarks.row import Row, paired
from tests.benchmarks.terminal import LARGE, SMALL, TUTOR, Terminal

RIGHT, DOWN = b"\x1b[C", b"\x1b[B"
PLACE = "self-attention#formula"


def measure(rounds: int) -> list[Row]:
    """Return the rows of a cursor move, a new map and a scrolled lesson."""
    against = "the changed cells alone"
    with Terminal([*MINE, "64"], LARGE) as terminal:
        terminal.wait_for(MARKER)
        terminal.settle(0.5)
        move = _bytes(terminal, [RIGHT] * rounds)
        new = _bytes(terminal, [NEXT] * min(rounds, 5))
    with used_home(PLACE) as home, Terminal([*TUTOR, PLACE], SMALL, home) as terminal:
        terminal.wait_for(marker(PLACE))
        terminal.settle(2.5, limit=30)
        scroll = _bytes(terminal, [DOWN] * min(rounds, 8))
    return [
        paired("cursor of a 64×64 map moved by a cell", *move, "bytes", budget=2, limit=150, against=against),
        paired("a new 64×64 map", *new, "bytes", budget=1.1, against=against),
        paired("lesson scrolled by a line, 80×24", *scroll, "bytes", budget=1.5, against=against),
    ]


def _bytes(terminal: Terminal, keys: Sequence[bytes]) -> tuple[list[float], list[float]]:
    """Return for each key the bytes written and the bytes needed; the first key only warms up."""
    written, needed = [], []
    for number, key in enumerate([keys[0], *keys]):
        before, start = grid(terminal.screen()), len(terminal.output)
        terminal.press(key)
        terminal.settle(0.3)
        if number:
            written.append(float(len(terminal.output) - start))
            needed.append(float(least_bytes(before, grid(terminal.screen()))))
    return written, needed
