"""What is imported before a learner sees the first frame, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"torch", "numpy", "plotext", "markdown_it", "pylatexenc", "tutor.widgets.lab_panel", "tutor.widgets.figure"}
OPEN = """
import sys
from pathlib import Path
from tutor.app import Opening, TutorApp
from tutor.course.catalog import Catalog
from tutor.progress.store import Store
from tutor.start_cache import StartCache

def stop_at_the_first_frame(app):
    print(*sys.modules)
    app.catalog.cache.save()
    app.exit()

TutorApp._after_first_frame = stop_at_the_first_frame
home = Path(sys.argv[1])
catalog = Catalog(cache=StartCache(home / "start.cache"))
opening = Opening("en", catalog.resolve(sys.argv[2]) if sys.argv[2] else None)
TutorApp(catalog, Store(home), opening).run(headless=True, size=(120, 40))
"""


def imported(home: Path, place: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", OPEN, str(home), place], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("place", ["", "self-attention#formula", "self-attention#by-hand"])
def test_a_place_opened_before_is_painted_without_reading_markdown_or_formulas(tmp_path: Path, place: str) -> None:
    imported(tmp_path, place)
    again = imported(tmp_path, place)
    assert "tutor.screens.base" in again
    assert HEAVY & again == set()


def test_a_step_never_opened_needs_markdown_but_no_lab(tmp_path: Path) -> None:
    assert HEAVY & imported(tmp_path, "self-attention#formula") == {"markdown_it", "pylatexenc"}
