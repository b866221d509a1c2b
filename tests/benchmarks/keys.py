"""From a key to its paint: while the engine loads, against the same app when everything is there."""

from __future__ import annotations

import random
import time

from tests.benchmarks.learner import marker, used_home
from tests.benchmarks.row import Row, percentile, single
from tests.benchmarks.terminal import SMALL, TUTOR, Terminal

PLACE = "self-attention#summary"  # its text is longer than the screen, so that every one of these keys paints
KEYS = [b"\x1b[B"] * 4 + [b"\x1b[A"] * 4
READY = "cpu"  # the status says where labs run


def measure(rounds: int) -> list[Row]:
    """Return the row of the 95th percentile; its limit binds the slowest key of all starts."""
    loading: list[float] = []
    idle: list[float] = []
    with used_home(PLACE) as home:
        for _ in range(max(3, rounds // 2)):
            with Terminal([*TUTOR, PLACE], SMALL, home) as terminal:
                terminal.wait_for(marker(PLACE))
                loading += _type(terminal, until=READY)
                terminal.settle(0.5)
                idle += _type(terminal, seconds=2.0)
    slowest, usual = percentile(loading, 0.95), percentile(idle, 0.95)
    against = f"the same app idle; {len(loading)} and {len(idle)} keys"
    return [
        single("key → paint while the engine loads, p95", slowest, usual, "ms", budget=1.5, against=against),
        single(
            "key → paint while the engine loads, slowest",
            max(loading),
            max(idle),
            "ms",
            limit=100,
            against="the same app idle",
        ),
    ]


def _type(terminal: Terminal, until: str = "", seconds: float = 30.0) -> list[float]:
    """Scroll down and up as a reader does, until the screen shows `until`; return the milliseconds of each key."""
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not (until and terminal.shows(until)):
        taken.append(terminal.press(KEYS[len(taken) % len(KEYS)]) * 1e3)
        pause = time.perf_counter() + random.uniform(0.03, 0.08)
        while (left := pause - time.perf_counter()) > 0:
            terminal.read(left)
    return taken
