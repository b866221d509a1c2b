"""Checks a lesson pack: everything an author can get wrong, with file and line. Nothing here runs a lab.

The rules for one lesson are in `lint_lesson`, for its two languages side by side in `lint_pair`, for what does not fit
the screen in `lint_screen`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.contract.message import say
from tutor.course.catalog import LANGUAGES, Catalog
from tutor.course.lint_lesson import check_lesson
from tutor.course.lint_pair import check_pair
from tutor.course.lint_screen import check_screen
from tutor.course.model import FILE, Fault, Lesson, LessonInfo


def lint(root: Path) -> list[Fault]:
    """Return every fault of the pack at `root`, by file and line."""
    catalog = Catalog(root)
    faults = list(catalog.faults)
    faults += _strangers(catalog)
    for info in catalog.course.lessons:
        lessons = []
        for language in LANGUAGES:
            path = catalog.path(info, language)
            if path.is_file():
                lessons.append(catalog.lesson(info, language))
            else:
                other = "en" if language == "zh" else "zh"
                missing = say("The file is missing; {other} has it.", other=catalog.path(info, other).name)
                faults.append(Fault(path.relative_to(root).as_posix(), 1, missing))
        for lesson in lessons:
            faults += [*lesson.faults, *check_lesson(lesson, root), *check_screen(lesson)]
        if len(lessons) == 2:
            faults += check_pair(*lessons)
        faults += _covered(info, lessons)
    if not catalog.course.lessons and not catalog.faults:
        faults.append(Fault(FILE, 1, say("No lesson of the course has a file yet.")))
    return sorted(set_of(faults), key=lambda fault: (fault.file, fault.line, str(fault.message)))


def set_of(faults: list[Fault]) -> list[Fault]:
    """Return the faults without repetitions."""
    return list({(fault.file, fault.line, str(fault.message)): fault for fault in faults}.values())


def _strangers(catalog: Catalog) -> Iterator[Fault]:
    """Yield Markdown files that no lesson of the course claims."""
    known = {catalog.path(info, language) for info in catalog.course.lessons for language in LANGUAGES}
    for language in LANGUAGES:
        for path in sorted((catalog.root / language).glob("*.md")):
            if path not in known:
                yield Fault(
                    path.relative_to(catalog.root).as_posix(),
                    1,
                    say("No lesson of {file} has this name; it should be NN-slug.md.", file=FILE),
                )


def _covered(info: LessonInfo, lessons: list[Lesson]) -> Iterator[Fault]:
    """Yield the steps that the course file names and the lesson does not have."""
    for lesson in lessons[:1]:
        for step in info.covers:
            if lesson.step(step) is None:
                yield Fault(
                    FILE, 1, say("{lesson} has no step “{step}”, which “covers” names.", lesson=info.id, step=step)
                )
