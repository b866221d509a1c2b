"""The lesson pack on disk: which lessons are written, and each lesson read when somebody asks for it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from engine.contract.message import Message, say
from tutor.course.model import FILE, Course, Fault, Language, Lesson, LessonInfo, Place
from tutor.course.near import nearest
from tutor.start_cache import StartCache

LANGUAGES = ("zh", "en")


class UnknownLesson(LookupError):
    """Raised for a lesson or step that does not exist; `message` says what does."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


def lessons_root() -> Path:
    """Return the folder of the lessons: inside the installed package, else beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_lessons"
    return installed if installed.is_dir() else package.parent / "lessons"


class Catalog:
    """The course at `root`. Opening it reads `course.toml` and looks at file names; no lesson is parsed.

    What `cache` knows of the files as they are now is not parsed again; only what has no fault is kept there.
    """

    def __init__(self, root: Path | None = None, cache: StartCache | None = None) -> None:
        self.root = root or lessons_root()
        self.cache = cache or StartCache(None)
        whole, self.faults = self._course()
        written = tuple(info for info in whole.lessons if any(self.path(info, lang).is_file() for lang in LANGUAGES))
        self.course: Course = msgspec.structs.replace(whole, lessons=written)
        self._lessons: dict[tuple[str, Language], Lesson] = {}

    def _course(self) -> tuple[Course, list[Fault]]:
        body = _bytes_of(self.root / FILE)
        known = self.cache.recall(Course, body)
        if known is not None:
            return known, []
        from tutor.course.course_file import read_course

        course, faults = read_course(self.root)
        if not faults:
            self.cache.keep(Course, course, body)
        return course, faults

    def path(self, info: LessonInfo, language: Language) -> Path:
        """Return where the lesson's file in `language` is, or would be."""
        return self.root / language / f"{info.stem}.md"

    def lesson(self, info: LessonInfo, language: Language) -> Lesson:
        """Return the lesson in `language`, or in the other language when only that exists (its `language` tells)."""
        key = (info.id, language)
        if key not in self._lessons:
            found = language if self.path(info, language).is_file() else ("en" if language == "zh" else "zh")
            self._lessons[key] = self._read_lesson(info, found)
        return self._lessons[key]

    def _read_lesson(self, info: LessonInfo, language: Language) -> Lesson:
        path = self.path(info, language)
        made_from = (_bytes_of(path), path.name, info, language)
        known = self.cache.recall(Lesson, *made_from)
        if known is not None:
            return known
        from tutor.course.parse import parse_file

        lesson = parse_file(path, self.root, info, language)
        if not lesson.faults:
            self.cache.keep(Lesson, lesson, *made_from)
        return lesson

    def resolve(self, text: str) -> Place:
        """Return the place that "L08", "8", "self-attention", "self" or "self-attention#scale" means.

        Raise UnknownLesson with the nearest name when it means none, or more than one.
        """
        name, _, step = text.strip().partition("#")
        info = self._find(name.strip())
        return Place(info, self._find_step(info, step.strip()) if step.strip() else "")

    def _find(self, name: str) -> LessonInfo:
        lessons = self.course.lessons
        wanted = name.casefold()
        number = re.fullmatch(r"l?0*(\d+)", wanted)
        exact = [info for info in lessons if wanted == info.slug or (number and int(info.id[1:]) == int(number[1]))]
        matches = exact or [info for info in lessons if wanted and info.slug.startswith(wanted)]
        if len(matches) == 1:
            return matches[0]
        shown = name[:40]
        if matches:
            slugs = ", ".join(info.slug for info in matches)
            raise UnknownLesson(say("“{name}” may mean: {slugs}.", name=shown, slugs=slugs))
        if close := nearest(wanted, [info.slug for info in lessons], cutoff=0.5):
            raise UnknownLesson(say("There is no lesson “{name}”; did you mean “{close}”?", name=shown, close=close))
        known = ", ".join(info.id for info in lessons) or "–"
        raise UnknownLesson(say("There is no lesson “{name}”; there are: {known}.", name=shown, known=known))

    def _find_step(self, info: LessonInfo, step: str) -> str:
        """Return the id of a step named by its id, the beginning of it, or its number."""
        ids = [found.id for found in self.lesson(info, "en").steps]
        if step in ids:
            return step
        if step.isdecimal() and len(step) < 4 and 0 < int(step) <= len(ids):
            return ids[int(step) - 1]
        matches = [id for id in ids if id.startswith(step.casefold())]
        if len(matches) == 1:
            return matches[0]
        lesson, shown = info.slug, step[:40]
        if close := nearest(step, ids, cutoff=0.5):
            raise UnknownLesson(
                say("{lesson} has no step “{step}”; did you mean “{close}”?", lesson=lesson, step=shown, close=close)
            )
        known = ", ".join(ids)
        raise UnknownLesson(
            say("{lesson} has no step “{step}”; it has: {known}.", lesson=lesson, step=shown, known=known)
        )


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
