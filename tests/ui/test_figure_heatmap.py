"""The heatmap widget: cursor, keys, mouse, languages, and how little it repaints."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from engine.contract.message import say
from engine.contract.report import Detail, Heatmap
from tests.ui.figure_app import FigureApp, heads
from tests.unit.pictures_samples import CHINESE, TERMINALS, attention, heatmap, matrix
from tutor.terminal import Depth, Terminal
from tutor.widgets.heatmap import HeatmapView

WEIGHTS = attention(6)


def cursor_of(app: FigureApp) -> tuple[int, int] | None:
    return app.maps[0].cursor


async def test_arrows_home_end_and_page_move_the_cursor_and_tell_the_value() -> None:
    app = FigureApp(heads(1))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("1", "right", "down")
        await pilot.pause()
        assert app.moves[-1] == (1, 1, WEIGHTS[1][1])
        await pilot.press("end", "down")
        await pilot.pause()
        assert app.moves[-1] == (2, 5, WEIGHTS[2][5])
        await pilot.press("home", "pagedown")
        await pilot.pause()
        assert app.moves[-1] == (5, 0, WEIGHTS[5][0])
        assert f"mat→The  {WEIGHTS[5][0]:.4f}" in app.frame() or "mat→The" in "\n".join(app.frame())


async def test_the_cursor_line_shows_details() -> None:
    detail = Detail(say("q·k"), matrix([[2.0, 0.5], [0.25, 3.0]]))
    app = FigureApp([heatmap([[0.4, 0.6], [0.125, 0.875]], ["q₁", "q₂"], ["k₁", "k₂"], details=(detail,))])
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("1", "down")
        await pilot.pause()
        assert "q₂→k₁  q·k 0.2500 → 0.1250" in app.frame()


async def test_the_mouse_moves_the_cursor_and_a_click_takes_the_keyboard() -> None:
    app = FigureApp(heads(1))
    async with app.run_test(size=(80, 30)) as pilot:
        view = app.maps[0]
        picture = view._picture
        assert picture is not None
        x, y, *_ = picture.layout.region(3, 2)
        await pilot.hover(HeatmapView, offset=(x, y))
        assert view.cursor == (3, 2)
        x, y, *_ = picture.layout.region(4, 5)
        await pilot.click(HeatmapView, offset=(x, y))
        assert view.cursor == (4, 5)
        assert view.has_focus


async def test_a_new_panel_keeps_the_cursor_if_the_shape_is_the_same() -> None:
    app = FigureApp(heads(1))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("1", "right", "down")
        other = attention(6, seed=9)
        app.maps[0].set_panel(heatmap(other, group="heads"))
        await pilot.pause()
        assert cursor_of(app) == (1, 1)
        assert any(f"{other[1][1]:.4f}" in line for line in app.frame())
        app.maps[0].set_panel(heatmap(attention(4), group="heads"))
        await pilot.pause()
        assert cursor_of(app) is None


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("width", [36, 60, 120])
async def test_the_cursor_is_visible_on_every_terminal(terminal: Terminal, width: int) -> None:
    app = FigureApp([heatmap(attention(12), CHINESE)], terminal)
    async with app.run_test(size=(width, 40)) as pilot:
        before = app.frame()
        await pilot.press("1", "right", "down")
        await pilot.pause()
        view = app.maps[0]
        assert view._picture is not None
        layout = view._picture.layout
        left, line, cell, _ = layout.region(1, 1)
        shown = view.render_line(line).crop(left, left + cell)
        assert shown.text[0] in "[◆X"
        assert shown.text != before[line][left : left + cell]
        assert len({strip.cell_length for strip in map(view.render_line, range(view.size.height))}) == 1


async def test_a_move_on_half_blocks_repaints_two_cells_and_the_cursor_line() -> None:
    app = FigureApp([heatmap(attention(64))])
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("1", "right")
        await pilot.pause()
        view = app.maps[0]
        view._repaint_regions.clear()
        painted: list[Region] = []
        original = view.refresh

        def watched(*regions: Region, **options: bool) -> HeatmapView:
            painted.extend(regions)
            return original(*regions, **options)

        view.refresh = watched  # type: ignore[method-assign]
        await pilot.press("right")
        await pilot.pause()
        layout = view._picture.layout if view._picture else None
        assert layout is not None
        assert layout.halves
        cells = {region for region in painted if region.height == 1 and region.width == 1}
        assert {region.x for region in cells} == {layout.left + 1, layout.left + 2}
        assert {region.y for region in painted} == {layout.top, view._cursor_y}
        drawn = view._picture
        await pilot.press("left")
        assert view._picture is drawn


async def test_the_value_stays_in_view_on_a_map_taller_than_the_screen() -> None:
    app = FigureApp([heatmap(attention(64))])
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("1", *["down"] * 3)
        await pilot.pause()
        assert app.frame()[-1].startswith("4→1")
        await pilot.press(*["pagedown"] * 6)
        await pilot.pause()
        await pilot.pause()
        assert any(line.startswith("64→1") for line in app.frame())


async def test_row_focus_dims_the_other_rows_only() -> None:
    app = FigureApp(heads(1))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("1", "down")
        view = app.maps[0]
        plain = [list(view.render_line(y)) for y in range(view.size.height)]
        await pilot.press("r")
        focused = [list(view.render_line(y)) for y in range(view.size.height)]
        assert view._picture is not None
        top = view._picture.layout.top
        changed = [y for y, (a, b) in enumerate(zip(plain, focused, strict=True)) if a != b]
        assert changed == [top, top + 2, top + 3, top + 4, top + 5]
        await pilot.press("r")
        assert plain == [list(view.render_line(y)) for y in range(view.size.height)]


async def test_n_shows_the_numbers_as_a_table_and_then_colours_alone() -> None:
    app = FigureApp(heads(1))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("1", "n")
        await pilot.pause()
        words = " ".join(app.frame()).split()
        assert all(f"{value:.4f}" in words for row in WEIGHTS for value in row)
        await pilot.press("n")
        await pilot.pause()
        assert app.maps[0].numbers == "none"
        assert not any("." in line for line in app.frame()[3:9])


async def test_a_changes_what_a_pooled_cell_stands_for() -> None:
    app = FigureApp([heatmap(attention(200))], Terminal(Depth.NONE))
    async with app.run_test(size=(60, 50)) as pilot:
        await pilot.press("1")
        await pilot.pause()
        assert any("peak of" in line for line in app.frame())
        await pilot.press("a")
        await pilot.pause()
        assert any("mean of" in line for line in app.frame())


async def test_another_language_redraws_in_place_and_keeps_the_cursor() -> None:
    panel = heatmap([[0.5, float("nan")], [0.1, 0.2]], ["a", "b"])
    app = FigureApp([panel])
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("1", "down")
        app.grid.set_language("zh")
        await pilot.pause()
        assert any("非有限值" in line for line in app.frame())
        assert cursor_of(app) == (1, 0)


async def test_an_empty_panel_takes_keys_without_harm() -> None:
    empty = Heatmap("e", say("Keys"), matrix([]), (), (), say("Queries"), say("Keys"), 0.0, 1.0)
    app = FigureApp([empty])
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("1", "right", "down", "end", "pagedown", "r", "n", "a")
        await pilot.pause()
        assert "no values" in app.frame()
