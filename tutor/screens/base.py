"""What every screen shares: the line at the top, the keys at the bottom, and speaking the learner's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.style import Style
from rich.text import Text
from textual.app import RenderResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from engine.contract.message import Message, say
from tutor.bindings import bar_keys, keys_for
from tutor.text.width import cells, cut

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tutor.app import TutorApp


SMALLEST = (60, 20)


def bindings_of(place: str) -> list[BindingType]:
    """Return the Textual bindings of every key that works in `place`."""
    return [
        Binding(key.keys, key.action, str(key.description), show=place in key.bar, key_display=key.shown, id=key.id)
        for key in keys_for(place)
    ]


class Leaving:
    """For a screen that can be left only once, however often and fast the key is pressed."""

    _left = False

    def leave(self, result: Any = None) -> None:
        """Leave the screen with `result`."""
        screen = cast("Screen[Any]", self)
        if not self._left and screen.is_current:
            self._left = True
            screen.dismiss(result)

    def action_leave(self) -> None:
        """Leave the screen with nothing."""
        self.leave()


class TutorScreen(Leaving, Screen[None]):
    """A screen with a top line and a key bar that can be translated in place; it says when the window is too small."""

    PLACE: ClassVar[str] = "map"
    _complete = False
    DEFAULT_CSS = """
    TutorScreen > TooSmall { display: none; }
    TutorScreen.-too-small > * { display: none; }
    TutorScreen.-too-small > TooSmall { display: block; }
    """

    @property
    def is_too_small(self) -> bool:
        """Whether the window is too small to show anything but that."""
        return self.app.size.width < SMALLEST[0] or self.app.size.height < SMALLEST[1]

    def on_resize(self) -> None:
        """Show the screen, or how large the window must be."""
        self.set_class(self.is_too_small, "-too-small")
        for sentence in self.query(TooSmall):
            sentence.tell()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While nothing of it is shown, the screen only lets itself be left."""
        return not self.is_too_small or action in ("quit", "switch_language", "app.quit", "app.switch_language")

    @property
    def tutor(self) -> TutorApp:
        """The app, as what it is."""
        return cast("TutorApp", self.app)

    def say(self, message: Message) -> str:
        """Return `message` in the learner's language."""
        return self.tutor.tr(message)

    def headings(self) -> list[Text]:
        """Return what the top line may say on its left, the longest first."""
        return [Text(" tutor")]

    def bar_keys(self) -> list[tuple[str, Message, str]]:
        """Return the keys the bottom line shows, what they do in a word, and the action a click performs."""
        return [
            (key.shown, key.short, key.action if key.action.startswith("app.") else f"screen.{key.action}")
            for key in bar_keys(self.PLACE)
        ]

    async def complete(self) -> None:
        """Show what the screen's first frame did without."""

    def on_screen_resume(self) -> None:
        """Complete the screen after its first frame (the app does it for the very first screen)."""
        if self.tutor.has_shown_a_frame and not self._complete:
            self._complete = True
            self.run_worker(self._completed(), group="complete")

    async def _completed(self) -> None:
        await self.complete()
        self.tutor.catalog.cache.save()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Let a failed worker end the tutor, unless the screen it worked for is gone: then nothing was lost."""
        if event.worker.error is not None and self.is_attached and self.children:
            raise event.worker.error

    def _compositor_refresh(self) -> None:
        """Draw, but not in a batch (the app's start is one): Textual would draw everything and throw it away."""
        if not self.app._batch_count:
            super()._compositor_refresh()

    def retranslate(self) -> None:
        """Show everything in the language that has just been chosen."""
        self.refresh_bars()
        self.on_resize()

    def refresh_bars(self) -> None:
        """Draw the top line and the key bar anew."""
        for bar in self.query(Bar):
            bar.refresh()


class TooSmall(Static):
    """One sentence with the size there is and the size there must be."""

    DEFAULT_CSS = "TooSmall { width: 1fr; height: 1fr; }"

    def tell(self) -> None:
        """Tell the present size."""
        width, height = self.app.size
        sentence = say(
            "This window has {width} × {height} cells; the tutor needs 60 × 20. Enlarge it, or press q to leave.",
            width=width,
            height=height,
        )
        self.update(cast("TutorScreen", self.screen).say(sentence))


class Bar(Widget):
    """A line of the frame, drawn anew when its screen changes."""

    DEFAULT_CSS = "Bar { height: 1; width: 1fr; }"

    @property
    def owner(self) -> TutorScreen:
        """The screen this bar belongs to."""
        return cast("TutorScreen", self.screen)


class TopBar(Bar):
    """The top line: where one is on the left, device, language and saved state on the right."""

    DEFAULT_CSS = "TopBar { dock: top; background: $panel; color: $foreground; }"

    def render(self) -> RenderResult:
        """Return the line, with the longest heading that fits beside the status."""
        status = self.owner.tutor.status()
        room = self.size.width - cells(status.plain) - 2
        headings = self.owner.headings()
        heading = next((text for text in headings if cells(text.plain) <= room), headings[-1])
        if cells(heading.plain) > room:
            heading = Text(cut(heading.plain, max(0, room)))
        gap = max(1, self.size.width - cells(heading.plain) - cells(status.plain) - 1)
        return Text.assemble(heading, " " * gap, status, no_wrap=True, end="")


class KeyBar(Bar):
    """The bottom line: at most eight keys of this screen."""

    DEFAULT_CSS = "KeyBar { dock: bottom; background: $panel; color: $text-muted; }"

    def render(self) -> RenderResult:
        """Return keys and what they do, as many as fit."""
        line = Text(" ", no_wrap=True, end="")
        key_style = self.app.theme_variables.get("accent", "bold")
        for shown, short, action in self.owner.bar_keys():
            piece = Text.assemble((shown, f"bold {key_style}"), " ", self.owner.say(short))
            piece.stylize(Style(meta={"@click": action}))
            piece.append("   ")
            if cells(line.plain) + cells(piece.plain.rstrip()) > self.size.width:
                break
            line.append_text(piece)
        return line
