"""Learners' homes for measuring: where they left the course, and what they have answered."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.terminal import LARGE, SMALL, TUTOR, Terminal
from tutor.course.catalog import Catalog
from tutor.course.model import Place, Prose
from tutor.progress.records import Prediction
from tutor.progress.store import Store
from tutor.text.prose import render


@contextmanager
def new_home() -> Iterator[Path]:
    """Yield the home of somebody who has never opened the tutor."""
    home = Path(tempfile.mkdtemp(prefix="tutor-bench-"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def used_home(place: str, *, predicted: bool = False) -> Iterator[Path]:
    """Yield the home of somebody who has opened `place` before, in both window sizes; `predicted`: and answered it."""
    with new_home() as home:
        if predicted:
            skip_predictions(home, Catalog().resolve(place))
        for size in (SMALL, LARGE):
            with Terminal([*TUTOR, place], size, home) as terminal:
                terminal.wait_for(marker(place))
                terminal.settle(1.0)
        yield home


def skip_predictions(home: Path, place: Place) -> None:
    """Note the questions before the step's lab as skipped, so that the lab runs when the step opens."""
    step = Catalog().lesson(place.info, "en").step(place.step)
    assert step is not None
    store = Store(home)
    for asked in step.predictions:
        store.record_prediction(Prediction(place.info.id, step.id, asked.id, None, None, "skipped", None)).result()
    store.close()


def marker(name: str) -> str:
    """Return the longest word of the first line of the step's text: once written, lesson text is on the screen."""
    place = Catalog().resolve(name)
    step = Catalog().lesson(place.info, "en").step(place.step)
    assert step is not None
    first = next(block for block in step.blocks if isinstance(block, Prose))
    words = render(first.source, 57)[0].plain.split()
    return max((word for word in words if word.isalpha()), key=len)
