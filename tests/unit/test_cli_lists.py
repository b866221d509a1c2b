import subprocess
import sys
from typing import Any

import pytest

from engine.contract.labs import declaration, names
from engine.contract.parameters import build, kinds, to_plain
from tests.unit.cli import Call, call
from tutor.course.catalog import Catalog
from tutor.progress.store import open_store

__all__ = ["call"]

COMMANDS = ["lessons", "labs", "show", "run", "probe", "view", "lint", "doctor"]


def chinese(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_help_names_every_command_and_speaks_the_learners_language(call: Call, language: str) -> None:
    done = call("--help", "--lang", language)
    assert (done.code, done.err) == (0, "")
    assert [name for name in COMMANDS if f"\n  {name} " not in done.out] == []
    assert chinese(done.out) == (language == "zh")
    assert "exercises" not in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_the_screen(call: Call, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", "60")
    for language in ("en", "zh"):
        done = call(command, "--help", "--lang", language)
        assert done.code == 0
        assert done.out.splitlines()[0].endswith("[options]") or language == "zh"
        assert max(map(cell_len, done.out.splitlines())) <= 60
        assert chinese(done.out) == (language == "zh")


PROBE = """
import sys
from tutor.cli.main import run
code = run(sys.argv[1:])
loaded = {name.split(".")[0] for name in sys.modules} & {"rich", "textual", "torch", "numpy", "plotext", "markdown_it"}
print(code, sorted(loaded), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "loaded"),
    [(["--help"], "0 []"), (["--version"], "0 []"), (["lessons", "--json"], "0 []"), (["labs", "--json"], "0 []")],
)
def test_a_light_command_loads_nothing_heavy(words: list[str], loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words, "--lang", "en"], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr.strip() == loaded


def test_the_version_is_one_line(call: Call) -> None:
    done = call("--version")
    assert done.code == 0
    assert done.out.startswith("tutor ")
    assert done.out.count("\n") == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_terminal_the_course_map_says_how_to_go_on(call: Call, language: str) -> None:
    done = call("--lang", language)
    assert (done.code, done.err) == (0, "")
    for info in Catalog().course.lessons:
        assert info.title.of(language) in done.out
        assert f"tutor show {info.slug}" in done.out
        assert str(info.minutes) in done.out
    for part in ("tutor show LESSON", "tutor run LAB", "tutor --help"):
        assert part in done.out


def test_the_map_shows_how_far_the_learner_is(call: Call) -> None:
    store = open_store()
    store.finish_step("L08", "by-hand")
    store.finish_step("L08", "scale")
    store.close()
    steps = len(Catalog().lesson(Catalog().resolve("L08").info, "en").steps)
    assert f"2 of {steps} steps done" in call().out
    assert f"2/{steps}" in call("lessons").out
    lesson = next(lesson for lesson in call("lessons", "--json").json["lessons"] if lesson["id"] == "L08")
    assert lesson["progress"]["steps_finished"] == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_lessons_as_json_are_what_the_course_has(call: Call, language: str) -> None:
    done = call("lessons", "--json", "--lang", language)
    catalog = Catalog()
    assert [lesson["slug"] for lesson in done.json["lessons"]] == [info.slug for info in catalog.course.lessons]
    for lesson, info in zip(done.json["lessons"], catalog.course.lessons, strict=True):
        assert lesson["title"] == info.title.of(language)
        assert [step["id"] for step in lesson["steps"]] == [step.id for step in catalog.lesson(info, language).steps]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_labs_as_json_hold_all_one_needs_to_call_them(call: Call, language: str) -> None:
    listed: list[dict[str, Any]] = call("labs", "--json", "--lang", language).json["labs"]
    assert [lab["name"] for lab in listed] == list(names())
    for lab in listed:
        declared = declaration(lab["name"])
        assert [parameter["name"] for parameter in lab["parameters"]] == list(kinds(declared.parameters))
        given = {parameter["name"]: parameter["default"] for parameter in lab["parameters"]}
        assert to_plain(build(declared.parameters, given, language)) == to_plain(
            build(declared.parameters, {}, language)
        )
        for parameter in lab["parameters"]:
            if parameter["kind"] in ("integer", "real"):
                assert parameter["minimum"] <= parameter["default"] <= parameter["maximum"]
            if parameter["kind"] == "choice":
                assert parameter["default"] in [option["value"] for option in parameter["options"]]
            if parameter["kind"] == "choices":
                assert {*parameter["default"]} <= {option["value"] for option in parameter["options"]}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("command", ["labs", "lessons"])
def test_tables_fit_eighty_columns_without_escape_codes(call: Call, command: str, language: str) -> None:
    from rich.cells import cell_len

    done = call(command, "--lang", language)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert max(map(cell_len, done.out.splitlines())) <= 80
    assert chinese(done.out) == (language == "zh")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["labz"], "tutor labs"),
        (["shwo"], "tutor show"),
        (["self-atention"], "self-attention"),
        (["self-attention#scal3"], "scale"),
        (["nothing-like-it"], "L08"),
        ([""], "L08"),
        (["\udcff\x1b[2J"], "L08"),
        (["--lang", "fr"], "zh, en"),
        (["--theme", "blue"], "dark, light"),
        (["--lessons", "/no/such"], "/no/such"),
        (["lessons", "--lessons", "/no/such"], "/no/such"),
        (["--device", ""], "--device"),
        (["lessons", "labs"], "labs"),
    ],
)
def test_a_name_that_means_nothing_is_answered_with_what_does(call: Call, words: list[str], part: str) -> None:
    done = call(*words)
    assert (done.code, done.out) == (2, "")
    assert part in done.err
    assert done.err.count("\n") == 1
    assert done.err.strip().isprintable()


def test_an_unexpected_error_goes_to_the_log(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def broken(*words: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr("tutor.cli.lessons.print_json", broken)
    done = call("lessons", "--json")
    log = tmp_path / "home" / "tutor.log"
    assert (done.code, done.out) == (70, "")
    assert done.err == f"tutor: The tutor failed (ZeroDivisionError); please report it with the file {log}.\n"
    assert "a fault of ours" in log.read_text("utf-8")
    assert log.stat().st_mode & 0o777 == 0o600


def test_the_log_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from tutor.cli import crash

    monkeypatch.setenv("TUTOR_HOME", str(tmp_path))
    monkeypatch.setattr(crash, "LARGEST", 1000)
    monkeypatch.setattr("sys.argv", ["tutor"])  # what is kept names the command
    for number in range(20):
        crash.keep_traceback(ValueError(f"number {number} {'x' * 100}"))
    text = (tmp_path / "tutor.log").read_text("utf-8")
    assert len(text) < 1400
    assert "number 19" in text
