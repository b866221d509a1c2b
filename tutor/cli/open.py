"""`tutor [LESSON[#STEP]]`: opens the app, or prints the course map where there is no terminal for it."""

from __future__ import annotations

import gc
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.contract.message import say
from tutor.cli.arguments import Parser, one_of
from tutor.cli.output import Output, is_terminal
from tutor.cli.places import resolve
from tutor.cli.shell import Shell, engine_options, language_option, lessons_option

if TYPE_CHECKING:
    from tutor.course.catalog import Catalog
    from tutor.course.model import Place

THEMES = ("dark", "light")


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.part(say("opening the course"))
    parser.word("LESSON", say("a lesson by name or number, and a step of it: self-attention, 8, self-attention#scale"))
    language_option(parser)
    parser.option("--theme", value="dark|light", help=say("colours for a dark or a light screen"))
    parser.flag("--no-mouse", help=say("leave the mouse to the terminal"))
    engine_options(parser)
    lessons_option(parser)
    parser.flag("--version", help=say("print the version"))


def run(options: Namespace, shell: Shell) -> int:
    """Open the app at the place asked for."""
    if options.version:
        print(version())
        return 0
    one_of("--theme", options.theme, THEMES)
    catalog = shell.catalog(options.lessons)
    place = None if options.lesson is None else resolve(catalog, options.lesson)
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return print_map(catalog, shell)
    return _open_app(options, shell, catalog, place)


def version() -> str:
    """Return the version line."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return f"tutor {installed('transformer-tutor')}"
    except PackageNotFoundError:
        return "tutor"


def _open_app(options: Namespace, shell: Shell, catalog: Catalog, place: Place | None) -> int:
    # What is made before the first frame stays: looking through it for garbage would take a tenth of the start.
    gc.disable()
    import textual.content

    from tutor.app import Opening, TutorApp
    from tutor.driver import HardenedDriver
    from tutor.text.wrap import install_rich, install_textual

    install_rich()
    install_textual(textual.content)
    opening = Opening(
        language=shell.language,
        place=place,
        device=options.device,
        engine_command=_engine_command(options.engine),
        gpu_memory=options.gpu_memory,
        theme=options.theme,
    )
    app = TutorApp(catalog, shell.store, opening, driver_class=HardenedDriver)
    # Textual would print the traceback of an unexpected error: it goes to the log instead.
    app._fatal_error = app._close_messages_no_wait  # type: ignore[method-assign]
    app.run(mouse=not options.no_mouse)
    if app._exception is not None:
        raise app._exception
    return app.return_code or 0


def _engine_command(command: str | None) -> list[str] | None:
    if command is None:
        return None
    from tutor.cli.engine import engine_command  # the client's imports can wait until after the first frame

    return engine_command(command)


def print_map(catalog: Catalog, shell: Shell) -> int:
    """Print the parts and lessons, how far the learner has come, and how to go on without the app."""
    out = Output(shell.language)
    out.say(say("The course, from sequence data to the Transformer"))
    progress = shell.store.lesson_progress()
    for part in catalog.course.parts:
        lessons = catalog.course.of_part(part)
        if not lessons:
            continue
        out.print()
        out.print(part.title.of(out.language))
        for info in lessons:
            steps = len(catalog.lesson(info, out.language).steps)
            done = progress[info.id].steps_finished if info.id in progress else 0
            title = info.title.of(out.language)
            about = say("{minutes} min, {done} of {steps} steps done", minutes=info.minutes, done=done, steps=steps)
            out.print(f"  {info.id}  {title}  ({out.tr(about)})")
            out.print(f"       tutor show {info.slug}")
    if not catalog.course.lessons:
        out.say(say("There are no lessons here; `tutor lint` says what is wrong."))
    out.print()
    out.say(say("In a terminal, `tutor` opens the course. Here these go on:"))
    for command, about in (
        ("tutor show LESSON", say("a lesson as text, its labs run")),
        ("tutor run LAB", say("one lab; `tutor labs` lists them")),
        ("tutor --help", say("everything else")),
    ):
        out.print(f"  {command:<18} {out.tr(about)}")
    return 0
