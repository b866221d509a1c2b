"""The course map, the benches, the palette, help, themes and the smallest window."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.ui.pilot import SIZES, make_app, sees, shown, until
from tutor.progress.store import Store
from tutor.screens.bench import BenchScreen
from tutor.screens.help import HelpScreen
from tutor.screens.home import HomeScreen
from tutor.screens.lesson import LessonScreen
from tutor.screens.palette import PaletteScreen
from tutor.text.width import cells
from tutor.widgets.heatmap import HeatmapView


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_first_start_shows_the_map_and_enter_opens_the_lesson(
    tmp_path: Path, language: str, size: tuple[int, int]
) -> None:
    app = make_app(tmp_path, language)
    async with app.run_test(size=size) as pilot:
        first = app.catalog.course.lessons[0]
        await sees(pilot, first.id, str(first.minutes), {"zh": "学完你能", "en": "You will be able to"}[language])
        assert all(cells(line) <= size[0] for line in shown(app).splitlines())
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LessonScreen))
        await sees(pilot, f"1/{len(app.catalog.lesson(first, language).steps)}")


async def test_the_map_tells_what_was_done(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#softmax")
    async with app.run_test(size=(120, 40)) as pilot:
        await sees(pilot, "5/14")
        await pilot.press("escape")
        await sees(pilot, "◐ L08", "of 14 steps", "today")


async def test_the_heads_bench_opens_from_the_map_and_runs(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("l")
        await sees(pilot, "heads")
        labs = app.screen.query_one(OptionList)
        labs.highlighted = labs.get_option_index("heads")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BenchScreen))
        await sees(pilot, "Head 1", "Head 4", "cat")
        await pilot.press("f2")
        await sees(pilot, "第 1 个头", "垫子")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_a_bench_opens_with_the_parameters_it_was_left_with(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(120, 40)) as pilot:
        app.open_bench("heads")
        await sees(pilot, "Head 4")
        await pilot.press("p")
        for _ in range(20):
            panel = app.screen.panel  # type: ignore[attr-defined]
            if panel.form.field == "heads":
                break
            await pilot.press("down")
        await pilot.press("left")
        await until(pilot, lambda: Store(tmp_path).setting("bench heads") == {"heads": 2})
    again = make_app(tmp_path, "en")
    async with again.run_test(size=(120, 40)) as pilot:
        again.open_bench("heads")
        await sees(pilot, "Head 2")
        assert "Head 3" not in shown(again)


async def test_figures_may_go_while_their_cursor_is_in_use(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_bench("heads")
        await until(pilot, lambda: isinstance(app.focused, HeatmapView))
        await pilot.press("right", "down", "p", "down", "down", "right")  # 8 heads in place of 4
        await sees(pilot, "Head 1")
        await pilot.press("left", "left", "escape")
        await until(pilot, lambda: len(app.screen.query(HeatmapView)) == 2)


async def test_the_palette_finds_steps_and_labs(tmp_path: Path) -> None:
    app = make_app(tmp_path, "zh")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, PaletteScreen))
        await pilot.press(*"softmax")
        await sees(pilot, "5.")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LessonScreen))


async def test_the_palette_takes_nothing_else_along_when_enter_is_pressed_twice(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention")
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, "1/14")
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, PaletteScreen))
        palette = app.screen
        await pilot.press("pagedown", "x", "q", "z", "pagedown", "enter")  # nothing matches: nothing happens
        for _ in range(3):
            palette.leave()  # type: ignore[attr-defined]
        await until(pilot, lambda: isinstance(app.screen, LessonScreen))
        await sees(pilot, "1/14")


async def test_help_shows_every_key_and_escape_closes_it(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(120, 50)) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await sees(pilot, "F1", "Show all keys", "Leave the tutor")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_a_window_that_is_too_small_says_so_and_recovers(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en", "self-attention#by-hand")
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, "One query")
        await pilot.resize_terminal(50, 15)
        await sees(pilot, "50 × 15")
        assert "One query" not in shown(app)
        await pilot.press("right_square_bracket", "enter")  # nothing is done unseen
        await pilot.resize_terminal(80, 24)
        await sees(pilot, "One query", "4/14")


async def test_a_list_is_left_once_however_often_enter_is_pressed(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("l")
        await sees(pilot, "sdpa")
        labs = app.screen
        for _ in range(3):
            labs.leave("sdpa")  # type: ignore[attr-defined]
        await until(pilot, lambda: isinstance(app.screen, BenchScreen))


async def test_the_theme_changes_and_is_remembered(tmp_path: Path) -> None:
    app = make_app(tmp_path, "en")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t")
        assert not app.current_theme.dark
    again = make_app(tmp_path, "en")
    async with again.run_test(size=(80, 24)):
        assert not again.current_theme.dark
