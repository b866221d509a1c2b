"""The pack on disk: lessons without files are not listed, names are found, opening it parses nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tutor.course.catalog import Catalog, UnknownLesson, lessons_root
from tutor.course.course_file import read_course

COURSE = """
[[part]]
id = 'a'
title = { zh = '一', en = 'One' }

[[lesson]]
id = 'L01'
slug = 'sequences'
part = 'a'
title = { zh = '序列', en = 'Sequences' }
minutes = 35
objectives = { zh = '甲', en = 'A' }

[[lesson]]
id = 'L08'
slug = 'self-attention'
part = 'a'
title = { zh = '自注意力', en = 'Self-attention' }
minutes = 75
prerequisites = ['L01']
objectives = { zh = '乙', en = 'B' }

[[lesson]]
id = 'L09'
slug = 'seq2seq'
part = 'a'
title = { zh = '编码解码', en = 'Seq2seq' }
minutes = 70
objectives = { zh = '丙', en = 'C' }
"""
STEPS = "# T\n## One {#one}\nx\n## Scale {#scale}\nx\n## Scatter {#scatter}\nx\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "course.toml").write_text(COURSE, "utf-8")
    for language in ("zh", "en"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "08-self-attention.md").write_text(STEPS, "utf-8")
    (tmp_path / "en" / "09-seq2seq.md").write_text(STEPS, "utf-8")
    return tmp_path


def test_lessons_without_a_file_are_not_listed(pack: Path) -> None:
    assert [info.id for info in Catalog(pack).course.lessons] == ["L08", "L09"]
    assert [info.id for info in read_course(pack)[0].lessons] == ["L01", "L08", "L09"]


def test_opening_the_catalogue_parses_no_lesson(pack: Path) -> None:
    code = (
        "import sys, pathlib; from tutor.course.catalog import Catalog;"
        f"c = Catalog(pathlib.Path({str(pack)!r})); assert c.course.lessons;"
        "heavy = {'tutor.course.parse', 'tutor.course.lint', 'rich', 'textual', 'markdown_it', 'torch', 'numpy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_lesson_in_one_language_only_is_shown_in_that(pack: Path) -> None:
    catalog = Catalog(pack)
    info = catalog.resolve("seq2seq").info
    assert catalog.lesson(info, "zh").language == "en"
    assert catalog.lesson(info, "zh").steps


@pytest.mark.parametrize("name", ["L08", "l08", "L8", "8", "08", "self-attention", "Self-Attention", "self", " self "])
def test_a_lesson_has_many_names(pack: Path, name: str) -> None:
    assert Catalog(pack).resolve(name).info.id == "L08"


@pytest.mark.parametrize(("step", "found"), [("scale", "scale"), ("o", "one"), ("3", "scatter"), ("Scal", "scale")])
def test_a_step_is_found_by_id_beginning_or_number(pack: Path, step: str, found: str) -> None:
    assert Catalog(pack).resolve(f"self-attention#{step}").step == found


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("self-atention", "There is no lesson “self-atention”; did you mean “self-attention”?"),
        ("L01", "There is no lesson “L01”; there are: L08, L09."),
        ("se", "“se” may mean: self-attention, seq2seq."),
        ("xyz", "There is no lesson “xyz”; there are: L08, L09."),
        ("", "There is no lesson “”; there are: L08, L09."),
        ("L08#scales", "self-attention has no step “scales”; did you mean “scale”?"),
        ("L08#9", "self-attention has no step “9”; it has: one, scale, scatter."),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(pack: Path, name: str, sentence: str) -> None:
    with pytest.raises(UnknownLesson) as caught:
        Catalog(pack).resolve(name)
    assert str(caught.value.message) == sentence


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("minutes = 35", "minutes = 'x'", 6, "“minutes” must be a whole number from 1 to 600."),
        ("minutes = 35", "minuts = 35", 6, "There is no key “minuts” here; did you mean “minutes”?"),
        ("slug = 'sequences'", "slug = '../x'", 6, "“../x” is no slug; write L08 and self-attention."),
        ("part = 'a'\ntitle = { zh = '自", "part = 'b'\ntitle = { zh = '自", 14, "There is no part “b”."),
        ("'L01']", "'L09']", 14, "The prerequisite “L09” is no earlier lesson."),
        ("slug = 'seq2seq'", "slug = 'sequences'", 23, "“sequences” is used twice."),
        ("zh = '乙', ", "", 14, "“objectives” needs a Chinese and an English text: zh = '…', en = '…'."),
    ],
)
def test_a_fault_of_the_course_file_is_told_with_its_line(
    pack: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in COURSE
    (pack / "course.toml").write_text(COURSE.replace(old, new), "utf-8")
    assert (line, message) in [(fault.line, str(fault.message)) for fault in read_course(pack)[1]]


def test_broken_toml_and_a_missing_file_are_faults(tmp_path: Path) -> None:
    assert [fault.place for fault in Catalog(tmp_path).faults] == ["course.toml:1"]
    (tmp_path / "course.toml").write_text("[[part]]\nid = \n", "utf-8")
    assert [fault.place for fault in Catalog(tmp_path).faults] == ["course.toml:2"]
    (tmp_path / "course.toml").write_bytes(b"\xff\xfe")
    assert str(Catalog(tmp_path).faults[0].message) == "This is not UTF-8 text; save the file as UTF-8."


def test_the_course_has_sixteen_lessons_in_four_parts() -> None:
    course, faults = read_course(lessons_root())
    assert faults == []
    assert [lesson.id for lesson in course.lessons] == [f"L{number:02d}" for number in range(1, 17)]
    assert [len(course.of_part(part)) for part in course.parts] == [6, 3, 4, 3]
    assert sum(lesson.minutes for lesson in course.lessons) == 1065
