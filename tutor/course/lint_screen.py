"""Rules for what a screen can hold: formulas that render, pictures and tables of 56 columns, steps of two screens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.contract.message import Message, say
from tutor.course.formulas import Formula, formulas
from tutor.course.model import Fault, Lesson, Prose, Step
from tutor.course.parse import fenced_lines
from tutor.course.quotes import QUOTE
from tutor.text.formula import FormulaError, display, inline
from tutor.text.prose import plain
from tutor.text.width import cells

WIDTH = 56
PANE = 58
LINES = 44
PARAGRAPH = 6
_NOT_PARAGRAPH = re.compile(r"\s*(?:[|>#`~]|[-*+] |\d+\. |\$\$)")


def check_screen(lesson: Lesson) -> Iterator[Fault]:
    """Yield what would not fit the prose pane, or cannot be drawn at all."""
    for step in lesson.steps:
        for line, message in [*_formulas(step), *_blocks(step)]:
            yield Fault(lesson.file, line, message)
        yield from (Fault(lesson.file, line, message) for line, message in _length(step))


def _formulas(step: Step) -> Iterator[tuple[int, Message]]:
    for formula in formulas(step):
        if reason := _refusal(formula):
            yield formula.line, say("The formula cannot be shown: {reason}.", reason=reason)


def _refusal(formula: Formula) -> Message | None:
    """Return why a formula cannot be drawn; a number stands in for each of its quotes."""
    tex = QUOTE.sub("0.1234", formula.tex)
    try:
        _ = display(tex, WIDTH) if formula.display else inline(tex)
    except FormulaError as error:
        return error.message
    return None


def _blocks(step: Step) -> Iterator[tuple[int, Message]]:
    """Measure diagrams, code and tables."""
    for block in step.blocks:
        if not isinstance(block, Prose):
            continue
        for line in fenced_lines(block.source.split("\n")):
            if line.fence and cells(line.text) > WIDTH:
                yield (
                    block.line + line.number - 1,
                    say("The line takes {width} columns; {most} fit.", width=cells(line.text), most=WIDTH),
                )
        for start, chunk in _chunks(block):
            if chunk.lstrip().startswith("|"):
                width = max(cells(line) for line in plain(chunk, 400).split("\n"))
                if width > WIDTH:
                    yield start, say("The table takes {width} columns; {most} fit.", width=width, most=WIDTH)
            elif not _NOT_PARAGRAPH.match(chunk):
                lines = len(plain(chunk, PANE).split("\n"))
                if lines > PARAGRAPH:
                    yield (
                        start,
                        say(
                            "The paragraph takes {lines} lines of the screen; {most} are enough.",
                            lines=lines,
                            most=PARAGRAPH,
                        ),
                    )


def _length(step: Step) -> Iterator[tuple[int, Message]]:
    prose = [block for block in step.blocks if isinstance(block, Prose)]
    lines = sum(len(plain(block.source, PANE).split("\n")) + 1 for block in prose)
    if lines > LINES:
        yield (
            step.line,
            say("The step takes {lines} lines of the screen; two screens hold {most}.", lines=lines, most=LINES),
        )


def _chunks(block: Prose) -> Iterator[tuple[int, str]]:
    """Yield the runs of lines between blank lines, outside fences, with the line each begins on."""
    run: list[str] = []
    start = block.line
    for line in fenced_lines(block.source.split("\n")):
        if line.fence or not line.text.strip():
            if run:
                yield start, "\n".join(run)
            run = []
            continue
        if not run:
            start = block.line + line.number - 1
        run.append(line.text)
    if run:
        yield start, "\n".join(run)
