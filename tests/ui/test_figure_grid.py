"""Several figures together: arrangement, going from one to the next, enlarging, live data."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from engine.contract.message import say
from engine.contract.report import Bars, Column, Note, Panel, Table
from tests.ui.figure_app import FigureApp, heads
from tests.unit.pictures_samples import CHINESE, curves, vector
from tutor.widgets.curves import REDRAW_SECONDS, CurvesView
from tutor.widgets.figure import figure
from tutor.widgets.figure_view import FigureView

STEPS = [float(step) for step in range(40)]
TABLE = Table("t", say("heads"), (Column(say("step")), Column(say("loss"), ".3f")), ((1, 0.5), (2, 0.25)))
BARS = Bars("b", say("entropy"), ("猫", "sat"), vector([0.5, 1.5]), say("loss"))
CURVES = curves({"RNN": [1 / (1 + step) for step in STEPS]}, STEPS)
NOTE = Note("n", say("{n} tokens", n=3))
ALL: list[Panel] = [*heads(2), TABLE, BARS, CURVES, NOTE]


def test_every_kind_of_panel_has_its_widget() -> None:
    names = [type(figure(panel)).__name__ for panel in ALL]
    assert names == ["HeatmapView", "HeatmapView", "TableView", "BarsView", "CurvesView", "NoteView"]


@pytest.mark.parametrize(("width", "beside"), [(36, 1), (56, 1), (72, 2), (118, 2), (130, 4)])
async def test_heads_stand_side_by_side_where_the_width_allows(width: int, beside: int) -> None:
    app = FigureApp(heads(4))
    async with app.run_test(size=(width, 60)) as pilot:
        await pilot.pause()
        first_line = {view.region.x for view in app.maps if view.region.y == app.maps[0].region.y}
        assert len(first_line) == beside


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [36, 58, 80, 120])
async def test_figures_follow_one_another_without_holes_and_inside_the_width(width: int, language: str) -> None:
    app = FigureApp(ALL, language=language)
    async with app.run_test(size=(width, 120)) as pilot:
        await pilot.pause()
        assert max(len(line) for line in app.frame()) <= width
        singles = [view for view in app.grid.figures if not view.panel.group]
        for above, below in itertools.pairwise(singles):
            assert below.region.y == above.region.bottom + 1


async def test_arrows_cross_from_figure_to_figure_and_digits_jump() -> None:
    app = FigureApp(ALL)
    async with app.run_test(size=(80, 100)) as pilot:

        def focused() -> int:
            return next(index for index, view in enumerate(app.grid.figures) if view.has_focus)

        await pilot.press("1", "end", "right")
        assert focused() == 1
        await pilot.press("pagedown", "down")
        assert focused() == 2
        await pilot.press("down", "down")
        assert focused() == 4
        await pilot.press("up", "up", "up")
        assert focused() == 1
        await pilot.press("5")
        assert focused() == 4
        await pilot.press("9")
        assert focused() == 4


async def test_cursors_of_one_group_move_together() -> None:
    app = FigureApp([*heads(3), *heads(1, CHINESE)])
    async with app.run_test(size=(120, 90)) as pilot:
        await pilot.press("2", "right", "down")
        await pilot.pause()
        assert [view.cursor for view in app.maps] == [(1, 1), (1, 1), (1, 1), None]


async def test_f_gives_a_figure_the_whole_screen_and_escape_puts_it_back() -> None:
    app = FigureApp(heads(4))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2", "right", "f")
        await pilot.pause()
        view = app.maps[1]
        assert app.screen.maximized is view
        assert view.size == app.screen.size
        assert view.cursor == (0, 1)
        await pilot.press("escape")
        await pilot.pause()
        assert view.size.width < 120
        await pilot.press("f", "f")
        await pilot.pause()
        assert view.size.width < 120


async def test_new_panels_of_the_same_kinds_are_shown_in_place() -> None:
    app = FigureApp(ALL)
    async with app.run_test(size=(80, 100)) as pilot:
        before: list[FigureView[Any]] = list(app.grid.figures)
        await pilot.press("1", "right")
        app.grid.show([*heads(2), TABLE, BARS, CURVES, NOTE], "zh")
        await pilot.pause()
        assert app.grid.figures == before
        assert app.maps[0].cursor == (0, 1)
        app.grid.show([TABLE, NOTE])
        await pilot.pause()
        assert [type(view).__name__ for view in app.grid.query(FigureView)] == ["TableView", "NoteView"]


async def test_live_curves_are_drawn_at_most_four_times_a_second_and_end_with_the_newest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = FigureApp([CURVES])
    async with app.run_test(size=(60, 24)) as pilot:
        view = app.grid.figures[0]
        assert isinstance(view, CurvesView)
        drawings = 0
        original = view.lines

        def counted(*arguments: Any) -> Any:
            nonlocal drawings
            drawings += 1
            return original(*arguments)

        monkeypatch.setattr(view, "lines", counted)
        newest = CURVES
        for step in range(20):
            newest = curves({"RNN": [1 / (1 + step + x) for x in STEPS]}, STEPS)
            view.set_panel(newest)
            await pilot.pause()
        assert drawings <= 2
        await asyncio.sleep(REDRAW_SECONDS * 1.2)
        await pilot.pause()
        assert view.panel == newest
