"""`course.toml`: the parts of the course and its lessons, in order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.contract.message import Message, say
from tutor.course import toml
from tutor.course.model import FILE, Bilingual, Course, Fault, LessonInfo, Part
from tutor.course.near import nearest

_ID = re.compile(r"L\d\d\Z")
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_PART_KEYS = ("id", "title")
_LESSON_KEYS = ("id", "slug", "title", "part", "minutes", "prerequisites", "labs", "objectives", "covers")


def read_course(root: Path) -> tuple[Course, list[Fault]]:
    """Return the course of the pack at `root` and what is wrong with its file."""
    try:
        body = (root / FILE).read_text("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Course((), ()), [Fault(FILE, 1, say("Cannot read it: {reason}.", reason=reason))]
    except UnicodeDecodeError:
        return Course((), ()), [Fault(FILE, 1, say("This is not UTF-8 text; save the file as UTF-8."))]
    table, problems = toml.read(body)
    reader = _CourseReader(body, [Fault(FILE, line + 1, message) for line, message in problems])
    for key in table:
        if key not in ("part", "lesson"):
            reader.unknown(key, ("part", "lesson"), toml.line_of(body, key))
    parts = tuple(reader.part(entry, nth) for nth, entry in enumerate(reader.entries(table, "part")))
    lessons = tuple(reader.lesson(entry, nth, parts) for nth, entry in enumerate(reader.entries(table, "lesson")))
    reader.check_order(lessons)
    return Course(parts, lessons), sorted(reader.faults, key=lambda fault: fault.line)


class _CourseReader:
    """Reads the entries of the file; `at` is the line (from 0) of the entry being read."""

    def __init__(self, body: str, faults: list[Fault]) -> None:
        self.body = body
        self.faults = faults
        self.at = 0

    def fault(self, message: Message, line: int | None = None) -> None:
        self.faults.append(Fault(FILE, (self.at if line is None else line) + 1, message))

    def unknown(self, key: str, known: tuple[str, ...], line: int | None = None) -> None:
        if close := nearest(key, known):
            self.fault(say("There is no key “{key}” here; did you mean “{close}”?", key=key, close=close), line)
        else:
            names = ", ".join(known)
            self.fault(say("There is no key “{key}” here; there are: {known}.", key=key, known=names), line)

    def entries(self, table: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        entries = table.get(name, [])
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
            return entries
        self.fault(say("“{key}” must be a list of tables.", key=name), toml.line_of(self.body, name))
        return []

    def part(self, entry: Mapping[str, Any], nth: int) -> Part:
        self.at = toml.line_of(self.body, "part", nth)
        self.check_keys(entry, _PART_KEYS)
        return Part(self.text(entry, "id"), self.both(entry, "title"))

    def lesson(self, entry: Mapping[str, Any], nth: int, parts: tuple[Part, ...]) -> LessonInfo:
        self.at = toml.line_of(self.body, "lesson", nth)
        self.check_keys(entry, _LESSON_KEYS)
        info = LessonInfo(
            id=self.text(entry, "id", _ID),
            slug=self.text(entry, "slug", _SLUG),
            title=self.both(entry, "title"),
            part=self.text(entry, "part"),
            minutes=self.minutes(entry),
            prerequisites=self.texts(entry.get("prerequisites", []), "prerequisites"),
            labs=self.texts(entry.get("labs", []), "labs"),
            objectives=self.both(entry, "objectives"),
            covers=self.covers(entry),
        )
        if info.part not in [part.id for part in parts]:
            self.fault(say("There is no part “{part}”.", part=info.part))
        return info

    def check_keys(self, entry: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key in entry:
            if key not in known:
                self.unknown(key, known)

    def text(self, entry: Mapping[str, Any], key: str, pattern: re.Pattern[str] | None = None) -> str:
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip() or toml.CONTROL.search(value):
            self.fault(say("“{key}” must be text.", key=key))
            return ""
        if pattern is not None and not pattern.match(value):
            self.fault(say("“{value}” is no {key}; write L08 and self-attention.", value=value[:40], key=key))
            return ""
        return value.strip()

    def both(self, entry: Mapping[str, Any], key: str) -> Bilingual:
        value = entry.get(key)
        if isinstance(value, dict) and set(value) == {"zh", "en"}:
            return Bilingual(self.text(value, "zh"), self.text(value, "en"))
        self.fault(say("“{key}” needs a Chinese and an English text: zh = '…', en = '…'.", key=key))
        return Bilingual("", "")

    def texts(self, value: object, key: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.fault(say("“{key}” must be a list of texts.", key=key))
        return ()

    def minutes(self, entry: Mapping[str, Any]) -> int:
        value = entry.get("minutes")
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 600:
            return value
        self.fault(say("“{key}” must be a whole number from 1 to 600.", key="minutes"))
        return 0

    def covers(self, entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        value = entry.get("covers", {})
        if isinstance(value, dict):
            return {step: self.texts(rows, f"covers.{step}") for step, rows in value.items()}
        self.fault(say("“{key}” must be a table.", key="covers"))
        return {}

    def check_order(self, lessons: tuple[LessonInfo, ...]) -> None:
        """Ids and slugs are unique, and a prerequisite comes earlier."""
        seen: list[str] = []
        for nth, lesson in enumerate(lessons):
            self.at = toml.line_of(self.body, "lesson", nth)
            for name in (lesson.id, lesson.slug):
                if name and name in seen:
                    self.fault(say("“{id}” is used twice.", id=name))
            for needed in lesson.prerequisites:
                if needed not in seen:
                    self.fault(say("The prerequisite “{id}” is no earlier lesson.", id=needed))
            seen += [lesson.id, lesson.slug]
