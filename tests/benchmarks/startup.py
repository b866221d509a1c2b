"""From exec to the first frame with lesson text, and to the first result of a lab, through a pseudo-terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.anchors.label_app import MARKER
from tests.benchmarks.learner import marker, new_home, used_home
from tests.benchmarks.row import Row, paired
from tests.benchmarks.terminal import LARGE, SMALL, TUTOR, Terminal
from tutor.course.catalog import Catalog

LABEL_APP = (sys.executable, "-m", "tests.benchmarks.anchors.label_app")
PLACES = ("self-attention#formula", "self-attention#by-hand")
WITH_LAB = "self-attention#by-hand"
IMPORT_TORCH = (sys.executable, "-c", "import torch; print('IMPOR' + 'TED', flush=True)")
RESULT = "k₁"  # a label of its figures, which its text does not have


def measure(rounds: int) -> list[Row]:
    """Return the rows of the start."""
    rows = []
    for size in (SMALL, LARGE):
        rows += [_first_frame(place, size, rounds) for place in PLACES]
        rows.append(_map(size, rounds))
    rows.append(_first_start_of_a_lesson(rounds))
    rows.append(_first_result(max(3, rounds // 3)))
    return rows


def _first_frame(place: str, size: tuple[int, int], rounds: int) -> Row:
    word = marker(place)
    with used_home(place) as home:
        mine, theirs = _in_turn([*TUTOR, place], word, size, home, rounds)
    name = f"first frame of {place}, {size[0]}×{size[1]}"
    return paired(name, mine, theirs, "ms", budget=1.4, against="a Textual app with one Label")


def _map(size: tuple[int, int], rounds: int) -> Row:
    """The course map, which the very first start shows."""
    with new_home() as home:
        mine, theirs = _in_turn(TUTOR, Catalog().course.lessons[0].id, size, home, rounds)
    name = f"first frame of the course map, {size[0]}×{size[1]}"
    return paired(name, mine, theirs, "ms", budget=1.4, against="a Textual app with one Label")


def _first_start_of_a_lesson(rounds: int) -> Row:
    """A lesson that was never opened, in a home that has no start cache: for information."""
    place = PLACES[0]
    mine, theirs = [], []
    for _ in range(rounds):
        with new_home() as home:
            mine.append(_milliseconds([*TUTOR, place], marker(place), SMALL, home))
        theirs.append(_milliseconds(LABEL_APP, MARKER, SMALL, None))
    name = f"first frame of {place}, never opened before, 80×24"
    return paired(name, mine, theirs, "ms", against="a Textual app with one Label; for information")


def _first_result(rounds: int) -> Row:
    mine, theirs = [], []
    with used_home(WITH_LAB, predicted=True) as home:
        for _ in range(rounds):
            mine.append(_milliseconds([*TUTOR, WITH_LAB], RESULT, LARGE, home))
            theirs.append(_milliseconds(IMPORT_TORCH, "IMPORTED", LARGE, None))
    return paired("first result of a lab painted", mine, theirs, "ms", budget=1.5, against="python -c 'import torch'")


def _in_turn(
    command: Sequence[str], word: str | bytes, size: tuple[int, int], home: Path, rounds: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of the tutor and of the anchor, which take turns; the first turn only warms up."""
    mine, theirs = [], []
    for _ in range(rounds + 1):
        mine.append(_milliseconds(command, word, size, home))
        theirs.append(_milliseconds(LABEL_APP, MARKER, size, None))
    return mine[1:], theirs[1:]


def _milliseconds(command: Sequence[str], word: str | bytes, size: tuple[int, int], home: Path | None) -> float:
    """Return the milliseconds from exec until `word` is written."""
    with Terminal(command, size, home) as terminal:
        return terminal.wait_for(word) * 1e3
