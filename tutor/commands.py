"""What the palette offers: every lesson, step and lab by name, and every command of the screen it was opened from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from engine.contract.labs import declaration, names
from engine.contract.message import say
from tutor.bindings import KEYS
from tutor.course.model import Place

if TYPE_CHECKING:
    from tutor.app import TutorApp

NOT_HERE = ("palette",)


@dataclass(frozen=True)
class Command:
    """One line of the palette: what it says, what else finds it, what it does."""

    text: str
    hint: str
    run: Callable[[], object]


def commands(tutor: TutorApp, screen: Screen[object]) -> Iterator[Command]:
    """Yield everything that can be done from `screen`."""
    yield from _lessons(tutor)
    yield from _labs(tutor)
    yield from _keys(tutor, screen)


def _lessons(tutor: TutorApp) -> Iterator[Command]:
    for info in tutor.catalog.course.lessons:
        yield Command(f"{info.id} {info.title.of(tutor.language)}", info.slug, partial(tutor.open_lesson, Place(info)))
        for number, step in enumerate(tutor.catalog.lesson(info, tutor.language).steps, 1):
            text, hint = f"{info.id} {number}. {step.title}", f"{info.slug}#{step.id}"
            yield Command(text, hint, partial(tutor.open_lesson, Place(info, step.id)))


def _labs(tutor: TutorApp) -> Iterator[Command]:
    for name in names():
        text = tutor.tr(say("Lab {name}: {title}", name=name, title=tutor.tr(declaration(name).title)))
        yield Command(text, "", partial(tutor.open_bench, name))


def _keys(tutor: TutorApp, screen: Screen[object]) -> Iterator[Command]:
    place = getattr(screen, "PLACE", "")
    for key in KEYS:
        if place in key.places and key.id not in NOT_HERE:
            yield Command(tutor.tr(key.description), key.shown, partial(tutor.run_action, key.action, screen))
