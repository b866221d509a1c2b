"""The app: it wires catalogue, progress store and engine to the screens, and holds what all screens share."""

from __future__ import annotations

import gc
from asyncio import to_thread
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from rich.theme import Theme
from textual import on
from textual.app import App
from textual.driver import Driver
from textual.message import Message as Event
from textual.reactive import Initialize, Reactive, var

from engine.contract.message import Message, say
from tutor.engine_client.state import EngineState
from tutor.i18n import LANGUAGES, translate
from tutor.screens.base import TutorScreen
from tutor.text.styles import STYLES
from tutor.themes import AVAILABLE, THEMES

if TYPE_CHECKING:
    from textual.theme import Theme as LookTheme

    from engine.contract.protocol import Reply
    from engine.contract.report import Report
    from tutor.commands import Command
    from tutor.course.catalog import Catalog
    from tutor.course.model import Place
    from tutor.engine_client.client import EngineClient
    from tutor.progress.store import Store
    from tutor.runs import Request, Runs


@dataclass(frozen=True)
class Opening:
    """How the tutor starts: language, place, device, engine command, theme; None leaves it to what was saved."""

    language: str
    place: Place | None = None
    device: str = "auto"
    engine_command: Sequence[str] | None = None
    gpu_memory: str | None = None
    theme: str | None = None


class TutorApp(App[None]):
    """The tutor. Screens arrange, widgets show, this class passes on."""

    # The styles of the screens too: a screen that brought its own would have all of them read again.
    CSS_PATH: ClassVar[list[Any]] = ["app.tcss", "screens/home.tcss", "screens/lesson.tcss"]
    TITLE = "tutor"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = []

    theme: Reactive[str] = Reactive(Initialize(lambda app: cast("TutorApp", app)._first_theme()))
    language: var[str] = var("en")
    saved_at: var[datetime | None] = var(None)
    ran_on: var[str] = var("")

    @dataclass
    class EngineSpoke(Event):
        """A reply of the engine, or a change of its state, on its way from the reader thread."""

        reply: Reply | EngineState

    @dataclass
    class Saved(Event):
        """A change has reached the disk (or, when `durable` is false, only memory)."""

        durable: bool

    def __init__(
        self,
        catalog: Catalog,
        store: Store,
        opening: Opening,
        engine: EngineClient | None = None,
        driver_class: type[Driver] | None = None,
    ) -> None:
        self.catalog = catalog
        self.store = store
        self.opening = opening  # before Textual's own part, which asks for the theme
        super().__init__(driver_class=driver_class)
        self.set_reactive(TutorApp.language, opening.language)
        self._engine = engine
        self._runs: Runs | None = None
        self._trouble: Message | None = None
        self.has_shown_a_frame = False

    # -- life -------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Open the first screen; the engine starts after the first frame."""
        self.console.push_theme(Theme(STYLES))
        self._open_first_screen()

    @property
    def available_themes(self) -> dict[str, LookTheme]:
        """Textual's themes and our two; made once, because Textual asks for every line it paints."""
        return AVAILABLE

    def _first_theme(self) -> str:
        """Return the theme to begin with; one set later would have all styles read again before the first frame."""
        import os

        chosen = self.opening.theme or os.environ.get("TEXTUAL_THEME") or self.store.setting("theme")
        name = THEMES[chosen].name if chosen in THEMES else str(chosen)
        return name if name in self.available_themes else THEMES["dark"].name

    def _open_first_screen(self) -> None:
        place = self.opening.place
        if place is None and (position := self.store.position()) is not None:
            place = self._place_of(position.lesson, position.step)
        if place is not None:
            self.open_lesson(place)
        else:
            self.action_open_map()

    def _place_of(self, lesson: str, step: str) -> Place | None:
        """Return a remembered place, or None when the pack no longer has it."""
        from tutor.course.catalog import UnknownLesson

        for name in (f"{lesson}#{step}", lesson):
            with suppress(UnknownLesson):
                return self.catalog.resolve(name)
        return None

    def on_ready(self) -> None:
        """Go on after the first frame: nothing is painted before the app is ready."""
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        from tutor import painter

        if self.is_running:  # not left at once
            painter.install(self)
            self.run_worker(self._bring_the_rest(), group="start")

    async def _bring_the_rest(self) -> None:
        """Start the engine and complete the screen, while keys are heard; what they need is imported aside."""
        from tutor import warm_up

        await to_thread(warm_up.import_all, warm_up.ENGINE)
        self.engine.start()
        await to_thread(warm_up.import_screens)
        self.has_shown_a_frame = True
        if isinstance(self.screen, TutorScreen):
            self.screen.on_screen_resume()
        await to_thread(warm_up.import_pictures)
        if not gc.isenabled():  # `tutor.cli.open` put it off
            gc.freeze()
            gc.enable()

    def on_unmount(self) -> None:
        """End the engine and write what still waits."""
        if self._engine is not None:
            self._engine.close()
        self.store.close()

    # -- the engine -------------------------------------------------------------------------------------------

    @property
    def engine(self) -> EngineClient:
        """The client of the engine process, made on first use."""
        if self._engine is None:
            from tutor.engine_client.client import EngineClient

            self._engine = EngineClient(
                self.hear_engine, command=self.opening.engine_command, gpu_memory=self.opening.gpu_memory
            )
        return self._engine

    @property
    def runs(self) -> Runs:
        """The queue of runs."""
        if self._runs is None:
            from tutor.runs import Runs

            self._runs = Runs(self.engine)
        return self._runs

    def hear_engine(self, reply: Reply | EngineState) -> None:
        """Take a reply from the client's reader thread into the app's own."""
        self.post_message(self.EngineSpoke(reply))

    @on(EngineSpoke)
    def _route_reply(self, event: EngineSpoke) -> None:
        from engine.contract.protocol import Devices, Log

        reply = event.reply
        if isinstance(reply, Devices):
            self.ran_on = reply.preferred
        elif isinstance(reply, EngineState):
            self._trouble = reply.message
        elif not isinstance(reply, Log):
            self.runs.deliver(reply)
        self.refresh_bars()

    # -- language, theme, status ------------------------------------------------------------------------------

    def tr(self, message: Message) -> str:
        """Return `message` in the learner's language."""
        return translate(message, self.language)

    def action_switch_language(self) -> None:
        """Show everything in the other language; what was entered stays."""
        self.language = LANGUAGES[1 - LANGUAGES.index(self.language)]

    def watch_language(self, language: str) -> None:
        """Translate every open screen in place and remember the choice."""
        if not self.is_running:
            return
        self.saving(self.store.set_setting("language", language))
        for screen in self.screen_stack:
            if isinstance(screen, TutorScreen):
                screen.retranslate()

    def action_switch_theme(self) -> None:
        """Change between dark and light and remember the choice."""
        chosen = "light" if self.current_theme.dark else "dark"
        self.theme = THEMES[chosen].name
        self.saving(self.store.set_setting("theme", chosen))

    def status(self) -> Text:
        """Return the right end of the top line: device, language, saved state, or words when something is wrong."""
        if notice := self.store.notice:
            return Text(self.tr(notice), style="bold")
        if self._trouble is not None:
            return Text(self.tr(self._trouble), style="italic")
        parts = [self.ran_on or self.tr(say("engine starting")), "中" if self.language == "zh" else "en"]
        if self.saved_at is not None:
            parts.append(self.tr(say("saved {time}", time=self.saved_at.strftime("%H:%M"))))
        return Text(" · ".join(parts))

    def refresh_bars(self) -> None:
        """Redraw the frame lines of the visible screen."""
        if self.screen_stack and isinstance(self.screen, TutorScreen):
            self.screen.refresh_bars()

    # -- saving -----------------------------------------------------------------------------------------------

    def saving(self, future: Future[bool]) -> None:
        """Say "saved" once the change behind `future` is durable."""
        future.add_done_callback(lambda done: self.post_message(self.Saved(done.exception() is None and done.result())))

    @on(Saved)
    def _note_saved(self, event: Saved) -> None:
        if event.durable:
            self.saved_at = datetime.now()
        self.refresh_bars()

    def record_run(self, request: Request, report: Report, lesson: str | None = None, step: str | None = None) -> None:
        """Keep a finished run."""
        from tutor.progress.records import Run

        run = Run(
            request.lab,
            dict(request.params),
            request.seed,
            report.device,
            report.seconds,
            dict(report.values),
            lesson,
            step,
        )
        self.saving(self.store.record_run(run))

    # -- places -----------------------------------------------------------------------------------------------

    def open_lesson(self, place: Place) -> None:
        """Show a lesson at a step, in place of an open lesson, of the map, or of a bench."""
        from tutor.screens.lesson import LessonScreen

        self._close_others(LessonScreen)
        if isinstance(self.screen, LessonScreen):
            self.screen.go_to(place)
        else:
            self.push_screen(LessonScreen(place))

    def open_bench(self, lab: str) -> None:
        """Show a lab full screen."""
        from tutor.screens.bench import BenchScreen

        self.push_screen(BenchScreen(lab))

    def action_open_map(self) -> None:
        """Show the course map, in place of everything else."""
        from tutor.screens.home import HomeScreen

        self._close_others(HomeScreen)
        if not isinstance(self.screen, HomeScreen):
            self.push_screen(HomeScreen())

    def _close_others(self, kind: type[TutorScreen]) -> None:
        """Close screens from the top down to one of `kind`, or to the app's empty first one."""
        while len(self.screen_stack) > 1 and not isinstance(self.screen, kind):
            self.pop_screen()

    def action_labs(self) -> None:
        """Let the learner choose a lab."""
        from tutor.screens.labs import LabsScreen

        self.push_screen(LabsScreen(), self._bench_chosen)

    def _bench_chosen(self, lab: str | None) -> None:
        if lab:
            self.open_bench(lab)

    def action_palette(self) -> None:
        """Let the learner go anywhere, or do anything, by typing part of its name."""
        from tutor.commands import commands
        from tutor.screens.palette import PaletteScreen

        self.push_screen(PaletteScreen(list(commands(self, self.screen))), self._carry_out)

    def _carry_out(self, command: Command | None) -> None:
        """Do what was chosen, once the palette has gone."""
        if command is not None:
            self.call_later(command.run)

    def action_show_help(self) -> None:
        """Show every key."""
        from tutor.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    def action_help_quit(self) -> None:
        """Ctrl+C leaves at once: everything is saved already."""
        self.exit()
