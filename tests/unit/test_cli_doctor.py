from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.contract.message import say
from engine.contract.protocol import Device, Devices, Hello
from tests.unit.cli import Call, call
from tutor.cli import check_engine, checks
from tutor.cli.checks import Section, check_progress, check_terminal, check_text, check_versions
from tutor.engine_client.client import EngineState
from tutor.progress.store import Store
from tutor.text.width import cells

__all__ = ["call"]

HELLO = Hello(1, {"python": "3.11.7", "torch": "2.13.0"}, ("sdpa", "heads"))
DEVICES = Devices((Device("cpu", "x86_64", 2**30, 2**31),), "cpu")


class EngineThatSays:
    """An engine client whose engine says what the test wants."""

    replies: tuple[Any, ...] = (EngineState("starting"), HELLO, DEVICES)

    def __init__(self, listener: Any, **options: Any) -> None:
        self._listener = listener

    def start(self) -> None:
        """Say it all at once."""
        for reply in self.replies:
            self._listener(reply)

    def close(self) -> None:
        """End."""


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> type[EngineThatSays]:
    monkeypatch.setattr(check_engine, "EngineClient", EngineThatSays)
    monkeypatch.setattr(EngineThatSays, "replies", EngineThatSays.replies)
    return EngineThatSays


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 100, lines: int = 30) -> None:
    import os

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((columns, lines)))


def problems(section: Section) -> list[str]:
    return [str(problem) for problem in section.problems]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sound_place_needs_no_mending(call: Call, language: str) -> None:
    done = call("doctor", "--lang", language)
    assert done.err == ""
    assert done.code == 0, done.out
    assert done.out.rstrip().endswith("Nothing to mend." if language == "en" else "一切正常。")
    assert "\x1b" not in done.out
    for fact in ("textual", "torch 2.13.0", "progress.db", "cpu (x86_64, 1.0 / 2.0 GiB)", "sdpa, heads"):
        assert fact in done.out


def test_the_rulers_are_as_wide_as_the_digits_below(call: Call) -> None:
    lines = call("doctor").out.splitlines()
    for start in ("  |█▀│─●→…×√", "  |中文"):
        index = next(i for i, line in enumerate(lines) if line.startswith(start))
        assert cells(lines[index]) == cells(lines[index + 1])


def test_json_holds_every_section(call: Call) -> None:
    found = call("doctor", "--json").json
    assert found["schema"] == 1
    assert found["ok"] is True
    assert found["problems"] == []
    assert set(found) >= {"terminal", "text", "versions", "lessons", "progress", "engine"}
    assert found["engine"]["preferred"] == "cpu"
    assert found["versions"]["textual"] == "8.2.8"


def test_a_problem_makes_the_answer_no_and_says_what_to_do(call: Call, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "course.toml").write_text("", "utf-8")
    done = call("doctor", "--lessons", str(tmp_path / "pack"))
    assert done.code == 1
    assert "! The lessons have 1 faults: `tutor lint` lists them." in done.out
    assert "Nothing to mend." not in done.out


@pytest.mark.parametrize(
    ("environment", "colours", "inside"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "24 bit", "–"),
        ({"TERM": "screen-256color", "STY": "1.x"}, "256", "screen"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "none, as NO_COLOR asks", "–"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/t", "SSH_CONNECTION": "a"}, "256", "tmux, ssh"),
        ({"TERM": "dumb"}, "none", "–"),
        ({}, "16", "–"),
    ],
)
def test_the_terminal_is_described(environment: Mapping[str, str], colours: str, inside: str) -> None:
    facts = check_terminal(environment).facts
    assert (str(facts["colours"][1]), facts["multiplexer"][1]) == (colours, inside)


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        ({"TERM": "dumb"}, "set TERM=xterm-256color"),
        ({}, "set TERM=xterm-256color"),
        ({"TERM": "xterm"}, "Only 16 colours"),
    ],
)
def test_a_poor_terminal_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str], part: str
) -> None:
    on_a_terminal(monkeypatch)
    assert part in problems(check_terminal(environment))[0]


def test_a_small_terminal_is_told_how_large_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch, 59, 30)
    assert problems(check_terminal({"TERM": "xterm-256color"})) == [
        "The terminal is 59×30; enlarge it to 60×20 or more."
    ]


def test_where_there_is_no_terminal_nothing_is_wrong_with_it() -> None:
    assert problems(check_terminal({})) == []


def test_an_output_without_chinese_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    section = check_text({"LANG": "C"})
    assert section.facts["locale"][1] == "LANG=C"
    assert "set LANG=C.UTF-8" in problems(section)[0]


def test_a_missing_package_and_another_textual_are_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"textual": "9.0.0", "rich": "", "transformer-tutor": "0.1.0"}
    monkeypatch.setattr(checks, "_version", lambda package: found.get(package, "1"))
    assert problems(check_versions()) == [
        "The package rich is missing: run make again.",
        "textual is 9.0.0, but the tutor needs 8.2.8: run make again.",
    ]


def test_progress_that_cannot_be_kept_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TUTOR_HOME", "/dev/null/home")
    assert "set TUTOR_HOME to another folder" in problems(check_progress(Store(tmp_path)))[0]
    monkeypatch.setenv("TUTOR_HOME", str(tmp_path / "not" / "yet"))
    assert problems(check_progress(Store(tmp_path / "not" / "yet"))) == []


def test_a_damaged_progress_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TUTOR_HOME", str(tmp_path))
    (tmp_path / "progress.db").write_bytes(b"not a database, " * 1000)
    assert "damaged" in problems(check_progress(Store(tmp_path)))[0]


@pytest.mark.parametrize(
    ("replies", "part"),
    [
        ((EngineState("failed", say("The engine command is empty.")),), "The engine command is empty."),
        ((EngineState("failed"),), "The engine does not start."),
        ((HELLO,), "The engine has not answered within 0 s"),
        ((), "The engine has not answered within 0 s"),
    ],
)
def test_an_engine_that_is_not_there_is_a_problem(
    engine: type[EngineThatSays], monkeypatch: pytest.MonkeyPatch, replies: tuple[Any, ...], part: str
) -> None:
    monkeypatch.setattr(engine, "replies", replies)
    monkeypatch.setattr(check_engine, "PATIENCE", 0.05)
    section = check_engine.check_engine(Namespace(engine="python -m engine", gpu_memory=None))
    assert part in problems(section)[0]
    assert section.facts["command"][1] == "python -m engine"
