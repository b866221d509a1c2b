"""What the tests of screens share: an app on the real lessons with an engine in a thread, and what it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from tests.ui.fake_engine import FakeEngine
from tutor.app import Opening, TutorApp
from tutor.course.catalog import Catalog
from tutor.progress.store import Store

SIZES = ((80, 24), (120, 40), (200, 50))


def make_app(home: Path, language: str = "en", place: str = "") -> TutorApp:
    """Return an app that keeps its progress in `home` and opens at `place` (or where that learner left)."""
    catalog = Catalog()
    app = TutorApp(catalog, Store(home), Opening(language, catalog.resolve(place) if place else None))
    app._engine = FakeEngine(app.hear_engine)  # type: ignore[assignment]
    return app


def shown(app: TutorApp) -> str:
    """Return the text on the screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def until(pilot: Pilot[None], condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until `condition` holds; fail with the screen's text when it does not."""
    for _ in range(int(seconds / 0.02)):
        await pilot.pause(0.02)
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError(shown(pilot.app))  # type: ignore[arg-type]


async def sees(pilot: Pilot[None], *texts: str) -> None:
    """Wait until all `texts` are on the screen."""
    app = pilot.app
    assert isinstance(app, TutorApp)
    await until(pilot, lambda: all(text in shown(app) for text in texts))
