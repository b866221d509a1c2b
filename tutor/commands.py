"""The palette: every lesson, step and lab by name, and every command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from engine.contract.labs import declaration, names
from engine.contract.message import say
from tutor.bindings import KEYS
from tutor.course.model import Place

if TYPE_CHECKING:
    from tutor.app import TutorApp

class TutorPalette(CommandPalette):
    """The palette in the learner's language."""

    _left = False

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave once: dismissing again would take away whatever screen is on top by then."""
        if self._left or not self.is_current:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)

    def _action_command_list(self, action: str) -> None:
        """Move in the list; Textual's own raises when it is paged through before it has lines."""
        with suppress(KeyError):
            super()._action_command_list(action)


Command = tuple[str, str, Callable[[], object]]
NOT_HERE = ("palette",)


class TutorCommands(Provider):
    """What the palette offers: text to search, help, what to do."""

    async def discover(self) -> Hits:
        """Offer everything while nothing is typed."""
        for text, help, run in self._commands():
            yield DiscoveryHit(text, run, help=help)

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for text, help, run in self._commands():
            if (score := matcher.match(f"{text} {help}")) > 0:
                yield Hit(score, matcher.highlight(text), run, help=help)

    @property
    def _tutor(self) -> TutorApp:
        return cast("TutorApp", self.app)

    def _commands(self) -> Iterator[Command]:
        yield from self._lessons()
        yield from self._labs()
        yield from self._keys()

    def _lessons(self) -> Iterator[Command]:
        tutor = self._tutor
        for info in tutor.catalog.course.lessons:
            title = f"{info.id} {info.title.of(tutor.language)}"
            yield title, info.slug, partial(tutor.open_lesson, Place(info))
            for number, step in enumerate(tutor.catalog.lesson(info, tutor.language).steps, 1):
                where = f"{info.id} {number}. {step.title}"
                yield where, f"{info.slug}#{step.id}", partial(tutor.open_lesson, Place(info, step.id))

    def _labs(self) -> Iterator[Command]:
        tutor = self._tutor
        for name in names():
            title = tutor.tr(declaration(name).title)
            yield tutor.tr(say("Lab {name}: {title}", name=name, title=title)), name, partial(tutor.open_bench, name)

    def _keys(self) -> Iterator[Command]:
        tutor, place = self._tutor, getattr(self.screen, "PLACE", "")
        for key in KEYS:
            if place in key.places and key.id not in NOT_HERE:
                yield tutor.tr(key.description), key.shown, partial(self._press, key.action)

    async def _press(self, action: str) -> None:
        await self._tutor.run_action(action, self.screen)
