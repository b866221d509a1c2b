"""`tutor lessons`: the lessons there are, and how far the learner has come."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from engine.contract.json import SCHEMA
from engine.contract.message import say
from tutor.cli.arguments import Parser
from tutor.cli.output import Output, print_json
from tutor.cli.shell import Shell, language_option, lessons_option
from tutor.course.catalog import Catalog
from tutor.course.model import LessonInfo
from tutor.progress.records import LessonProgress


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.part(say("options"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    lessons_option(parser)
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print the lessons."""
    catalog = shell.catalog(options.lessons)
    progress = shell.store.lesson_progress()
    if options.json:
        lessons = [_json(catalog, info, progress.get(info.id), shell.language) for info in catalog.course.lessons]
        print_json({"schema": SCHEMA, "lessons": lessons})
    else:
        _print_table(catalog, progress, Output(shell.language, plain=options.plain))
    return 0


def _json(catalog: Catalog, info: LessonInfo, progress: LessonProgress | None, language: str) -> dict[str, Any]:
    lesson = catalog.lesson(info, language)
    done = progress or LessonProgress()
    return {
        "id": info.id,
        "slug": info.slug,
        "title": info.title.of(language),
        "part": info.part,
        "minutes": info.minutes,
        "objectives": info.objectives.of(language),
        "prerequisites": list(info.prerequisites),
        "labs": sorted({lab.name for lab in lesson.labs}),
        "steps": [{"id": step.id, "title": step.title} for step in lesson.steps],
        "progress": {
            "steps_seen": done.steps_seen,
            "steps_finished": done.steps_finished,
            "quizzes_answered": done.quizzes_answered,
            "quizzes_right": done.quizzes_right,
            "predictions_made": done.predictions_made,
            "predictions_hit": done.predictions_hit,
            "last_visit": done.last_visit.isoformat() if done.last_visit else None,
        },
    }


def _print_table(catalog: Catalog, progress: dict[str, LessonProgress], out: Output) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("")
    table.add_column(out.tr(say("lesson")))
    table.add_column(out.tr(say("title")), overflow="fold")
    table.add_column(out.tr(say("minutes")), justify="right")
    table.add_column(out.tr(say("steps done")), justify="right")
    for info in catalog.course.lessons:
        finished = progress[info.id].steps_finished if info.id in progress else 0
        steps = len(catalog.lesson(info, out.language).steps)
        title = info.title.of(out.language)
        table.add_row(info.id, info.slug, title, str(info.minutes), f"{finished}/{steps}")
    out.print(table)
