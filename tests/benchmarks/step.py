"""CPU of the UI process for going to the next step, against Textual's Markdown showing another 200 lines."""

from __future__ import annotations

import statistics
import sys

from tests.benchmarks.anchors.markdown_app import LINES, MARKER
from tests.benchmarks.heatmap import NEXT, cpu_of
from tests.benchmarks.learner import marker, used_home
from tests.benchmarks.row import Row, single
from tests.benchmarks.terminal import LARGE, TUTOR, Terminal

MARKDOWN_APP = (sys.executable, "-m", "tests.benchmarks.anchors.markdown_app")
LESSON = "self-attention"
FIRST = "self-attention#seven-numbers"
NEXT_STEP = b"]"
STEPS = 11


def measure(rounds: int) -> list[Row]:
    """Return the row: the median over the steps of a lesson, and over as many updates of the anchor."""
    steps, updates = [], []
    with (
        used_home(FIRST) as home,
        Terminal([*TUTOR, FIRST], LARGE, home) as tutor,
        Terminal(MARKDOWN_APP, LARGE) as text,
    ):
        tutor.wait_for(marker(FIRST))
        text.wait_for(MARKER)
        tutor.settle(3.0, limit=30)
        text.settle(1.0)
        for _ in range(min(rounds, STEPS)):
            steps.append(cpu_of(tutor, NEXT_STEP))
            updates.append(cpu_of(text, NEXT))
    return [
        single(
            "UI CPU for going to the next step, 200×50",
            statistics.median(steps),
            statistics.median(updates),
            "ms",
            budget=0.25,
            against=f"Textual's Markdown.update with {LINES} lines",
        )
    ]
