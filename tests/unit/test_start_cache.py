"""The start cache gives back what was kept, and nothing once anything it was made from has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tutor import start_cache
from tutor.course.catalog import LANGUAGES, Catalog, lessons_root
from tutor.course.model import Course, Lesson, LessonInfo, Prose
from tutor.start_cache import KEPT, StartCache
from tutor.text.kept import keep_lines, recall_lines
from tutor.text.prose import render

LESSONS = [(info, language) for info in Catalog().course.lessons for language in LANGUAGES]


def saved(file: Path, value: str, *made_from: object) -> None:
    cache = StartCache(file)
    cache.keep(str, value, *made_from)
    cache.save()


def test_a_later_start_finds_the_course_as_it_was_parsed(tmp_path: Path) -> None:
    cache = StartCache(tmp_path / "c")
    course = Catalog(cache=cache).course
    cache.save()
    later = StartCache(tmp_path / "c")
    assert later.recall(Course, (lessons_root() / "course.toml").read_bytes()) is not None
    assert Catalog(cache=later).course == course


@pytest.mark.parametrize(("info", "language"), LESSONS, ids=lambda part: getattr(part, "id", part))
def test_a_later_start_finds_every_lesson_as_it_was_parsed(tmp_path: Path, info: LessonInfo, language: str) -> None:
    parsed = Catalog().lesson(info, language)
    cache = StartCache(tmp_path / "c")
    cache.keep(Lesson, parsed, info.id)
    cache.save()
    assert StartCache(tmp_path / "c").recall(Lesson, info.id) == parsed


def test_a_changed_lesson_file_is_read_anew(tmp_path: Path) -> None:
    pack = tmp_path / "lessons"
    shutil.copytree(lessons_root(), pack)
    cache = StartCache(tmp_path / "start.cache")
    info = Catalog(pack, cache).course.lessons[0]
    Catalog(pack, cache).lesson(info, "en")
    cache.save()
    path = Catalog(pack).path(info, "en")
    path.write_text(path.read_text("utf-8").replace("# ", "# Changed: ", 1), "utf-8")
    again = Catalog(pack, StartCache(tmp_path / "start.cache"))
    assert again.lesson(info, "en").title.startswith("Changed: ")


@pytest.mark.parametrize(("info", "language"), LESSONS, ids=lambda part: getattr(part, "id", part))
def test_kept_lines_are_the_lines_that_were_laid_out(info: LessonInfo, language: str) -> None:
    cache = StartCache(Path("unwritten"))
    for step in Catalog().lesson(info, language).steps:
        first = step.blocks[0]
        if isinstance(first, Prose):
            lines = render(first.source, 57)
            keep_lines(cache, lines, first.source, 57)
            known = recall_lines(cache, first.source, 57)
            assert known is not None
            assert [(line.plain, line.spans) for line in known] == [(line.plain, line.spans) for line in lines]


def test_nothing_is_found_under_other_inputs_or_another_kind(tmp_path: Path) -> None:
    saved(tmp_path / "c", "value", "source", 57)
    assert StartCache(tmp_path / "c").recall(str, "source", 57) == "value"
    assert StartCache(tmp_path / "c").recall(str, "source", 58) is None
    assert StartCache(tmp_path / "c").recall(bytes, "source", 57) is None


def test_nothing_is_found_after_the_code_that_made_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "c", "value", "source")
    monkeypatch.setattr(start_cache, "_files_of", lambda package: iter([("prose.py", 1, 2)]))
    assert StartCache(tmp_path / "c").recall(str, "source") is None


@pytest.mark.parametrize("damage", [0, 7, 20, -1])
def test_a_file_with_one_flipped_bit_is_no_cache(tmp_path: Path, damage: int) -> None:
    saved(tmp_path / "c", "value", "source")
    data = bytearray((tmp_path / "c").read_bytes())
    data[damage] ^= 4
    (tmp_path / "c").write_bytes(data)
    assert StartCache(tmp_path / "c").recall(str, "source") is None


def test_where_nothing_can_be_written_nothing_is_kept_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    saved(tmp_path / "file" / "c", "value", "source")
    assert StartCache(tmp_path / "file" / "c").recall(str, "source") is None
    saved(tmp_path / "new" / "folder" / "c", "value", "source")
    assert StartCache(tmp_path / "new" / "folder" / "c").recall(str, "source") == "value"
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["c"]


def test_a_write_that_failed_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()  # cannot be replaced by a file
    saved(tmp_path / "c", "value", "source")
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_the_file_holds_the_latest_entries_only(tmp_path: Path) -> None:
    cache = StartCache(tmp_path / "c")
    for number in range(KEPT + 2):
        cache.keep(int, number, number)
        cache.recall(int, 0)  # what is used stays
    cache.save()
    later = StartCache(tmp_path / "c")
    assert [number for number in range(KEPT + 2) if later.recall(int, number) is None] == [1, 2]
