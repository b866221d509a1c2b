"""What figures cost on the line, through the painter, and that the screen stays the right one."""

from __future__ import annotations

import pyte
import pytest
from textual import _compositor as compositor
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from engine.contract.report import Panel
from tests.ui.figure_app import heads
from tests.ui.painted import RecordingDriver, Session, running
from tests.unit.pictures_samples import CHINESE, attention, heatmap
from tutor import painter
from tutor.terminal import Terminal
from tutor.widgets.figure import FigureGrid

SIZE = (100, 40)


class PaintedApp(App[None]):
    """Figures and some text, painted by changes only."""

    def __init__(self, panels: list[Panel]) -> None:
        super().__init__(driver_class=RecordingDriver)
        self.grid = FigureGrid(panels, "zh", Terminal())
        self.painter: painter.Painter | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False, id="page"):
            yield self.grid
            for number in range(40):
                yield Static(f"第 {number} 行：注意力 is all you need", markup=False)

    def on_mount(self) -> None:
        self.painter = painter.install(self)


def shown(screen: pyte.Screen) -> list[str]:
    return list(screen.display)


async def fresh(session: Session) -> list[str]:
    """What the terminal would show if everything were written again."""
    app = session.app
    assert isinstance(app, PaintedApp)
    assert app.painter is not None
    app.painter.forget()
    app.screen.refresh()
    await session.settle()
    screen = pyte.Screen(session.screen.columns, session.screen.lines)
    pyte.Stream(screen).feed(session.taken())
    return shown(screen)


def floor(before: pyte.Screen, after: pyte.Screen) -> int:
    """The bytes of the changed cells alone, with minimal colour changes: the anchor of the budgets."""
    count, place, foreground, background = 0, None, None, None
    for y in range(after.lines):
        for x in range(after.columns):
            old, new = before.buffer[y][x], after.buffer[y][x]
            if old == new or (old.data == new.data == " " and old.bg == new.bg):
                continue
            if place != (x, y):
                count += len(f"\x1b[{y + 1};{x + 1}H")
            codes = []
            if new.fg != foreground and new.data != " ":
                codes.append(sgr(38, new.fg))
                foreground = new.fg
            if new.bg != background:
                codes.append(sgr(48, new.bg))
                background = new.bg
            count += (len(";".join(codes)) + 3 if codes else 0) + len(new.data.encode())
            place = (x + 1, y)
    return count


def sgr(layer: int, colour: str) -> str:
    """The code of a colour as pyte names it."""
    if colour == "default" or colour.isalpha():
        return str(layer + 1)  # the sixteen named ones take two digits as well
    red, green, blue = bytes.fromhex(colour)
    return f"{layer};2;{red};{green};{blue}"


def copy_of(session: Session) -> pyte.Screen:
    screen = pyte.Screen(session.screen.columns, session.screen.lines)
    for y in range(screen.lines):
        for x in range(screen.columns):
            screen.buffer[y][x] = session.screen.buffer[y][x]
    return screen


async def test_a_cursor_move_on_64_by_64_costs_at_most_150_bytes() -> None:
    async with running(lambda: PaintedApp([heatmap(attention(64))]), (100, 44)) as session:
        await session.press("1", "right", "down")
        for key in ("right", "right", "down", "left"):
            before = copy_of(session)
            sent = await session.press(key)
            assert len(sent.encode()) <= 150
            assert len(sent.encode()) <= 2 * floor(before, session.screen)
        assert shown(session.screen) == await fresh(session)


async def test_a_new_64_by_64_map_costs_little_more_than_its_changed_cells() -> None:
    async with running(lambda: PaintedApp([heatmap(attention(64))]), (100, 44)) as session:
        session.taken()
        before = copy_of(session)
        app = session.app
        assert isinstance(app, PaintedApp)
        app.grid.show([heatmap(attention(64, seed=5))])
        await session.settle()
        sent = session.taken()
        assert len(sent.encode()) <= 1.1 * floor(before, session.screen)
        assert shown(session.screen) == await fresh(session)


async def test_scrolling_by_a_line_writes_only_what_differs() -> None:
    async with running(lambda: PaintedApp([heatmap(attention(12), CHINESE)]), SIZE) as session:
        session.taken()
        before = copy_of(session)
        session.app.query_one("#page").scroll_relative(y=1, animate=False)
        await session.settle()
        sent = session.taken()
        assert len(sent.encode()) <= 1.5 * floor(before, session.screen)
        assert shown(session.screen) == await fresh(session)


async def test_a_session_of_keys_and_sizes_always_shows_the_right_screen() -> None:
    async with running(lambda: PaintedApp([*heads(3), heatmap(attention(12), CHINESE)]), SIZE) as session:
        for keys in (["1", "right"], ["r"], ["n"], ["n", "n"], ["4", "down"], ["f"], ["escape"], ["pagedown"]):
            await session.press(*keys)
            assert shown(session.screen) == await fresh(session)
        for size in ((60, 30), (61, 30), (120, 45)):
            await session.resize(*size)
            assert shown(session.screen) == await fresh(session)


async def test_resuming_after_a_suspension_draws_everything_again() -> None:
    async with running(lambda: PaintedApp(list(heads(1))), SIZE) as session:
        session.taken()
        session.stream.feed("\x1b[2J")
        app = session.app
        app.app_resume_signal.publish(app)
        app.screen.refresh()
        await session.settle()
        session.taken()
        assert shown(session.screen) == await fresh(session)
        assert any("Queries" in line or "Keys" in line for line in shown(session.screen))


async def test_another_textual_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class OtherUpdate(compositor.ChopsUpdate):
        def __init__(self, chops: object, cuts: object) -> None:
            raise NotImplementedError

    monkeypatch.setattr(compositor, "ChopsUpdate", OtherUpdate)
    async with running(lambda: PaintedApp(list(heads(1))), SIZE) as session:
        app = session.app
        assert isinstance(app, PaintedApp)
        assert app.painter is None
        session.taken()
        assert any("Keys" in line for line in shown(session.screen))
