"""`tutor show LESSON[#STEP]`: a lesson as text, its labs run and its live numbers filled in, the answers at the end."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext

from engine.contract.message import say
from tutor.cli.arguments import Parser
from tutor.cli.errors import UsageError
from tutor.cli.output import Output, warn
from tutor.cli.places import resolve
from tutor.cli.shell import Shell, engine_options, language_option, lessons_option
from tutor.course.model import LabBlock, Lesson, Step


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.word("LESSON", say("a lesson by name or number, and a step of it: self-attention, 8, self-attention#scale"))
    parser.part(say("options"))
    parser.flag("--plain", help=say("print without escape codes"))
    parser.flag("--no-run", help=say("leave the labs out; their numbers show as dots"))
    engine_options(parser)
    lessons_option(parser)
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print the lesson; 1 when a lab of it could not be run."""
    from tutor.cli.engine import Engine
    from tutor.cli.lesson_text import LessonText

    catalog = shell.catalog(options.lessons)
    if options.lesson is None:
        known = ", ".join(info.slug for info in catalog.course.lessons)
        raise UsageError(say("Name the lesson to show; there are: {lessons}.", lessons=known), "lesson")
    place = resolve(catalog, options.lesson)
    out = Output(shell.language, plain=options.plain)
    lesson = catalog.lesson(place.info, out.language)
    if lesson.language != out.language:
        warn(shell.language, say("This lesson exists in the other language only."))
    steps = [step for step in lesson.steps if place.step in ("", step.id)]
    with nullcontext() if options.no_run else Engine(options, shell.tr) as engine:
        text = LessonText(lesson, out, engine)
        text.compute(needed_labs(lesson, steps))
        text.print(steps)
    return 1 if text.failed else 0


def needed_labs(lesson: Lesson, steps: Sequence[Step]) -> list[LabBlock]:
    """Return the labs whose results the steps show, quote or ask for, in the order of the lesson."""
    asked = {question.answer_from.partition(".")[0] for step in steps for question in step.questions}
    quoted = {quote.lab for step in steps for quote in step.quotes()}
    shown = {step.lab.id for step in steps if step.lab is not None}
    return [lab for lab in lesson.labs if lab.id in asked | quoted | shown]
