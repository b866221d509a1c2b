"""Run an app without a terminal and keep the bytes it would have sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pyte
from textual import events
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.pilot import Pilot


class RecordingDriver(HeadlessDriver):
    """A driver that counts as a real one and remembers what is written."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.written: list[str] = []

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        self.written.append(data)


class Session:
    """A running app and the screen its bytes draw."""

    def __init__(self, app: App[Any], size: tuple[int, int]) -> None:
        self.app = app
        self.pilot: Pilot[Any] = Pilot(app)
        self.screen = pyte.Screen(*size)
        self.stream = pyte.Stream(self.screen)

    @property
    def driver(self) -> RecordingDriver:
        driver = self.app._driver
        assert isinstance(driver, RecordingDriver)
        return driver

    def taken(self) -> str:
        """What was written since the last call; the screen shows it from now on."""
        text = "".join(self.driver.written)
        self.driver.written.clear()
        self.stream.feed(text)
        return text

    async def settle(self) -> None:
        """Wait until the app has drawn what it wants to draw."""
        for _ in range(3):
            await self.pilot.pause()
            await asyncio.sleep(0.05)

    async def press(self, *keys: str) -> str:
        """Press keys and return what was written for them."""
        self.taken()
        await self.pilot.press(*keys)
        await self.settle()
        return self.taken()

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size; its text is in disorder until it is drawn again."""
        self.screen.resize(height, width)
        self.stream.feed("\x1b[m" + "\x1b[H#disorder")
        self.driver._size = (width, height)
        size = Size(width, height)
        self.app.post_message(events.Resize(size, size))
        await self.settle()
        self.taken()


@asynccontextmanager
async def running(make: Callable[[], App[Any]], size: tuple[int, int]) -> AsyncIterator[Session]:
    """Run an app made with `driver_class=RecordingDriver`."""
    app = make()
    session = Session(app, size)
    task = asyncio.create_task(app.run_async(headless=False, size=size))
    while not app.is_running or app._driver is None:
        await asyncio.sleep(0.01)
    await session.settle()
    try:
        yield session
    finally:
        app.exit()
        with suppress(asyncio.CancelledError):
            await task
