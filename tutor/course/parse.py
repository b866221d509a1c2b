"""Markdown → Lesson. The file reads well on any Git host; here it becomes steps and blocks with their line numbers.

`# Title`, then steps `## Step title {#step-id}`; inside a step prose and fenced blocks. Whatever cannot be understood
becomes a Fault with its line; the rest of the lesson is still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.contract.message import Message, say
from tutor.course import toml
from tutor.course.blocks import KINDS, read_block
from tutor.course.model import Block, Fault, Language, Lesson, LessonInfo, Prose, Step

_TITLE = re.compile(r"# +(.+?)\s*$")
_STEP = re.compile(r"##(?!#)\s*(.*?)\s*$")
_STEP_ID = re.compile(r"\s*\{#([^}]*)\}\s*$")
_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w-]*)[^`]*$")


@dataclass(frozen=True)
class Line:
    """A line of the file and what it is: text, or part of the fence that opened on line `fence` (0 when none)."""

    number: int
    text: str
    kind: str = ""
    fence: int = 0


@dataclass
class _Draft:
    """A step being collected."""

    id: str
    title: str
    line: int
    blocks: list[Block] = field(default_factory=list)
    prose: list[Line] = field(default_factory=list)

    def close_prose(self) -> None:
        """Turn the collected lines into a prose block, without blank lines at its ends."""
        while self.prose and not self.prose[0].text.strip():
            self.prose.pop(0)
        while self.prose and not self.prose[-1].text.strip():
            self.prose.pop()
        if self.prose:
            self.blocks.append(Prose("\n".join(line.text for line in self.prose), self.prose[0].number))
        self.prose = []

    def step(self) -> Step:
        """Return the finished step."""
        self.close_prose()
        return Step(self.id, self.title, tuple(self.blocks), self.line)


def parse_file(path: Path, root: Path, info: LessonInfo, language: Language) -> Lesson:
    """Read the lesson at `path` of the pack at `root`; a file that cannot be read is a lesson of faults."""
    file = path.relative_to(root).as_posix()
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fault = Fault(file, 1, say("Cannot read it: {reason}.", reason=reason))
        return msgspec.structs.replace(parse("", file, info, language), faults=(fault,))
    try:
        return parse(raw.decode("utf-8"), file, info, language)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault = Fault(file, line, say("This is not UTF-8 text; save the file as UTF-8."))
        lesson = parse(raw.decode("utf-8", "replace"), file, info, language)
        return msgspec.structs.replace(lesson, faults=(fault, *lesson.faults))


def parse(text: str, file: str, info: LessonInfo, language: Language) -> Lesson:
    """Read a lesson from its text."""
    reader = _LessonReader(file, language)
    for line in fenced_lines(_clean(text, reader)):
        reader.take(line)
    return reader.finish(info)


def fenced_lines(lines: list[str]) -> Iterator[Line]:
    """Yield every line with the kind of fence it stands in; an unclosed fence runs to the end."""
    mark, kind, start = "", "", 0
    for number, text in enumerate(lines, 1):
        fence = _FENCE.match(text)
        if not mark and fence:
            mark, kind, start = fence[1], fence[2] or "text", number
            yield Line(number, text, kind, start)
        elif mark and fence and fence[1].startswith(mark) and not fence[2]:
            yield Line(number, text, kind, start)
            mark, kind, start = "", "", 0
        else:
            yield Line(number, text, kind, start)


def _clean(text: str, reader: _LessonReader) -> list[str]:
    """Return the lines without control characters, each of which is a fault."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if found := toml.CONTROL.search(line):
            code = f"U+{ord(found.group()):04X}"
            reader.fault(number, say("The line holds the control character {code}; remove it.", code=code))
            lines[number - 1] = toml.CONTROL.sub("", line)
    return lines


class _LessonReader:
    """Takes the lines of a lesson one by one."""

    def __init__(self, file: str, language: Language) -> None:
        self.file = file
        self.language = language
        self.title = ""
        self.faults: list[Fault] = []
        self.steps: list[Step] = []
        self.draft: _Draft | None = None
        self.fence: list[Line] = []
        self.strayed = False

    def fault(self, line: int, message: Message) -> None:
        """Note a fault."""
        self.faults.append(Fault(self.file, line, message))

    def take(self, line: Line) -> None:
        """Sort one line into the title, a heading, a fenced block or prose."""
        if self.fence and line.fence != self.fence[0].fence:
            self.close_fence()
        if line.fence and line.kind in KINDS:
            self.fence.append(line)
        elif not line.fence and line.text.startswith("#") and self.take_heading(line):
            pass
        elif self.draft is not None:
            self.draft.prose.append(line)
        elif line.text.strip() and not self.strayed:
            self.strayed = True
            self.fault(line.number, say("Text stands before the first step; begin a step with “## Title {#id}”."))

    def take_heading(self, line: Line) -> bool:
        """Begin a step, or take the title; deeper headings belong to the prose."""
        if step := _STEP.match(line.text):
            self.close_step()
            self.draft = self.begin_step(step[1], line.number)
            return True
        if title := _TITLE.match(line.text):
            if self.title or self.draft:
                self.fault(line.number, say("A lesson has one title, on its first line."))
            self.title = self.title or title[1]
            return True
        return False

    def begin_step(self, heading: str, line: int) -> _Draft:
        """Return the draft of a step from its heading."""
        found = _STEP_ID.search(heading)
        title = heading[: found.start()].strip() if found else heading
        id = found[1] if found else f"step-{len(self.steps) + 1}"
        if not found:
            self.fault(line, say("The step has no id; end its heading with “{#id}”."))
        elif not _ID.match(id):
            self.fault(line, say("“{id}” is no step id; use small letters, digits and hyphens.", id=id[:40]))
        if not title:
            self.fault(line, say("The step has no title."))
        return _Draft(id, title, line)

    def close_fence(self) -> None:
        """Turn the collected fence into a block."""
        first, *body = self.fence
        self.fence = []
        closed = bool(body) and _FENCE.match(body[-1].text) is not None
        if not closed:
            self.fault(first.number, say("The block “{kind}” is never closed; end it with ```.", kind=first.kind))
        if self.draft is None:
            self.fault(first.number, say("A block stands before the first step."))
            return
        self.draft.close_prose()
        text = "\n".join(line.text for line in (body[:-1] if closed else body))
        block, faults = read_block(first.kind, text, first.number, self.language)
        for number, message in faults:
            self.fault(number, message)
        if block is not None:
            self.draft.blocks.append(block)

    def close_step(self) -> None:
        """Finish the step being collected."""
        if self.draft is not None:
            self.steps.append(self.draft.step())
            self.draft = None

    def finish(self, info: LessonInfo) -> Lesson:
        """Return the lesson."""
        if self.fence:
            self.close_fence()
        self.close_step()
        if not self.title:
            self.fault(1, say("The lesson has no title; begin the file with “# Title”."))
        if not self.steps:
            self.fault(1, say("The lesson has no steps; begin one with “## Title {#id}”."))
            # Whoever shows the lesson needs a step to be at.
            self.steps.append(Step("step-1", self.title or info.slug, (), 1))
        faults = tuple(sorted(self.faults, key=lambda fault: fault.line))
        return Lesson(info, self.language, self.title, tuple(self.steps), self.file, faults)
