from pathlib import Path

import pytest

from tests.unit.cli import Call, InProcessClient, call, clients
from tutor.course.catalog import Catalog

__all__ = ["call", "clients"]

COURSE = """
[[part]]
id = 'one'
title = { zh = '一', en = 'One' }
[[lesson]]
id = 'L01'
slug = 'small'
title = { zh = '小课', en = 'A small lesson' }
part = 'one'
minutes = 5
objectives = { zh = '目标', en = 'Aims' }
"""

LESSON = """# {title}
## {title} {{#first}}
{{{{mixed.{quoted}:.0e}}}}

```lab
id = 'mixed'
name = 'shuffle'
params = {{ text = 'a b c d' }}
[[assert]]
value = 'error'
relation = '{relation}'
bound = 1e-9
```
"""


def write(folder: Path, relation: str = "<", quoted: str = "error") -> Path:
    (folder / "course.toml").write_text(COURSE, "utf-8")
    for language, title in (("en", "Small"), ("zh", "小课")):
        (folder / language).mkdir(exist_ok=True)
        text = LESSON.format(title=title, relation=relation, quoted=quoted)
        (folder / language / "01-small.md").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("words", [[], ["--run"]])
def test_a_sound_pack_has_no_faults(
    call: Call, clients: list[InProcessClient], tmp_path: Path, words: list[str]
) -> None:
    done = call("lint", str(write(tmp_path)), *words)
    assert (done.code, done.out, done.err) == (0, "Lessons: 1. Faults: 0.\n", "")


def test_a_fault_is_told_with_file_and_line(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "en" / "01-small.md"
    file.write_text(file.read_text("utf-8").replace("'shuffle'", "'shufle'"), "utf-8")
    done = call("lint", ".")
    assert done.code == 1
    assert "en/01-small.md:5: There is no lab “shufle”; did you mean “shuffle”?\n" in done.out
    faults = call("lint", ".", "--json").json
    assert {"file": "en/01-small.md", "line": 5, "message": "There is no lab “shufle”; did you mean “shuffle”?"} in (
        faults["faults"]
    )
    chinese = call("lint", ".", "--json", "--lang", "zh").json["faults"]
    assert [fault["line"] for fault in chinese] == [fault["line"] for fault in faults["faults"]]
    assert all(any("\u4e00" <= char <= "\u9fff" for char in fault["message"]) for fault in chinese)


def test_a_claim_that_is_false_is_found_by_running(call: Call, clients: list[InProcessClient], tmp_path: Path) -> None:
    write(tmp_path, relation=">")
    assert call("lint", str(tmp_path)).code == 0
    done = call("lint", str(tmp_path), "--run", "--json")
    assert done.code == 1
    assert [(fault["file"], fault["line"]) for fault in done.json["faults"]] == [
        ("en/01-small.md", 9),
        ("zh/01-small.md", 9),
    ]
    assert "but the lesson claims > 1e-09" in done.json["faults"][0]["message"]


def test_a_quoted_value_that_no_run_has_is_found_by_running(
    call: Call, clients: list[InProcessClient], tmp_path: Path
) -> None:
    done = call("lint", str(write(tmp_path, quoted="eror")), "--run", "--json")
    assert done.code == 1
    assert {fault["line"] for fault in done.json["faults"]} == {3}
    assert "eror" in done.json["faults"][0]["message"]


def test_equal_runs_are_made_once(call: Call, clients: list[InProcessClient], tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "en" / "01-small.md"
    text = file.read_text("utf-8")
    file.write_text(text + text.partition("\n")[2].replace("first", "second").replace("mixed", "again"), "utf-8")
    call("lint", str(tmp_path), "--run")
    assert [lab for lab, *_ in clients[0].asked] == ["shuffle", "shuffle"]  # one a language


def test_what_the_tutors_own_lessons_claim_is_true(call: Call, clients: list[InProcessClient]) -> None:
    done = call("lint", "--run", "--json")
    assert done.json["faults"] == []
    assert done.json["lessons"] == len(Catalog().course.lessons)


def test_a_folder_without_a_course_is_refused(call: Call, tmp_path: Path) -> None:
    done = call("lint", str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"tutor: There are no lessons in {tmp_path}: it has no course.toml.\n"
