"""`tutor lint [DIR]`: what is wrong with a folder of lessons, with file and line; `--run` checks what it claims."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engine.contract.json import SCHEMA
from engine.contract.message import say
from engine.contract.report import Report, Scalar
from tutor.cli.arguments import Parser
from tutor.cli.engine import Engine
from tutor.cli.errors import UsageError
from tutor.cli.lesson_labs import own_params
from tutor.cli.output import Output, print_json
from tutor.cli.shell import Shell, engine_options, language_option
from tutor.course.asserts import check_assert
from tutor.course.catalog import LANGUAGES, Catalog
from tutor.course.lint import lint
from tutor.course.model import Fault, LabBlock, Lesson
from tutor.course.quotes import look_up


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.word("DIR", say("a folder of lessons; the tutor's own without it"))
    parser.part(say("options"))
    parser.flag("--run", help=say("run every lab and check what the lessons claim about it"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    engine_options(parser)
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print the faults; 1 when there are any."""
    catalog = shell.catalog(options.dir)
    faults = lint(catalog.root)
    if options.run:
        with Engine(options, shell.tr) as engine:
            faults = sorted([*faults, *_broken_claims(catalog, engine)], key=lambda fault: (fault.file, fault.line))
    lessons = len(catalog.course.lessons)
    if options.json:
        listed = [{"file": f.file, "line": f.line, "message": shell.tr(f.message)} for f in faults]
        print_json({"schema": SCHEMA, "folder": str(catalog.root), "lessons": lessons, "faults": listed})
    else:
        out = Output(shell.language, plain=options.plain)
        folder = _from_here(catalog.root)
        for fault in faults:
            out.print(f"{folder / fault.file}:{fault.line}: {out.tr(fault.message)}")
        out.say(say("Lessons: {lessons}. Faults: {faults}.", lessons=lessons, faults=len(faults)))
    return 1 if faults else 0


def _from_here(folder: Path) -> Path:
    """Return the folder as one would type it here: an editor opens `lessons/en/….md:5`."""
    here = Path.cwd()
    return folder.relative_to(here) if here in folder.parents else folder


def _broken_claims(catalog: Catalog, engine: Engine) -> Iterator[Fault]:
    """Run every lab of every lesson, equal runs once, and yield what does not come out as the lesson says."""
    reports: dict[str, Report] = {}
    for info in catalog.course.lessons:
        for language in LANGUAGES:
            if catalog.path(info, language).is_file():
                yield from _check_lesson(catalog.lesson(info, language), engine, reports)


def _check_lesson(lesson: Lesson, engine: Engine, reports: dict[str, Report]) -> Iterator[Fault]:
    values: dict[str, Mapping[str, Scalar]] = {}
    for lab in lesson.labs:
        try:
            report = _report(lab, lesson.language, engine, reports)
        except UsageError as refused:
            yield Fault(lesson.file, lab.line, refused.message)
            continue
        values[lab.id] = report.values
        claims = [check_assert(claim, report.values, lesson.file) for claim in lab.asserts]
        yield from (fault for fault in claims if fault is not None)
        for invariant in report.invariants:
            if invariant.holds is False:
                yield Fault(lesson.file, lab.line, say("This does not hold: {name}", name=invariant.name))
    yield from _missing_values(lesson, values)


def _report(lab: LabBlock, language: str, engine: Engine, reports: dict[str, Report]) -> Report:
    params = own_params(lab, language)
    key = json.dumps([lab.name, params, lab.seed, language], sort_keys=True)
    if key not in reports:
        reports[key] = engine.run(lab.name, params, lab.seed, language)
    return reports[key]


def _missing_values(lesson: Lesson, values: Mapping[str, Mapping[str, Scalar]]) -> Iterator[Fault]:
    """Yield the values that prose quotes, or questions are answered from, and that no run has."""
    for step in lesson.steps:
        wanted = [(quote.lab, quote.value, quote.line) for quote in step.quotes()]
        for question in step.questions:
            lab, _, name = question.answer_from.partition(".")
            wanted += [(lab, name, question.line)] if lab else []
        for lab, name, line in wanted:
            if lab in values and look_up(name, values[lab]) is None:
                known = ", ".join(sorted(values[lab]))
                yield Fault(
                    lesson.file, line, say("The run has no value “{value}”; it has: {known}.", value=name, known=known)
                )
