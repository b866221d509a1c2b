"""The tutor in a real terminal: first frame, keys, sizes, signals, odd input, and terminals of several kinds."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.terminal.pty_app import PtyApp, alive, descendants
from tutor.progress.store import Store


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_first_start_shows_the_map_and_keys_lead_to_a_result(tmp_path: Path, language: str) -> None:
    words = {
        "zh": ("学完你能", "一句话下面的七个数", "结果"),
        "en": ("You will be able to", "Seven numbers", "Result"),
    }[language]
    with PtyApp("--lang", language, home=tmp_path, size=(120, 36)) as tutor:
        tutor.wait("L08", words[0])
        tutor.send(":")
        tutor.settle()
        tutor.send("self-attention#seven")
        tutor.settle()
        tutor.send("\r")
        tutor.wait("1/14", words[1])
        tutor.wait("sdpa")
        tutor.send("\t")
        tutor.settle()
        tutor.send("0.28\r")
        tutor.settle()
        tutor.send("\r")
        tutor.wait(words[2], "0.2759")
        tutor.send("\x1b")
        tutor.settle()
        tutor.send("q")
        assert tutor.wait_for_exit(10) == 0
    assert [p.outcome for p in Store(tmp_path).predictions("L08")] == ["hit"]


def test_the_next_start_opens_the_saved_step_in_the_saved_language(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention#softmax", home=tmp_path) as tutor:
        tutor.wait("5/14")
        tutor.send("z")
        tutor.wait("softmax", "测验")
        tutor.settle()
        tutor.send("q")
        assert tutor.wait_for_exit(10) == 0
    with PtyApp(home=tmp_path) as tutor:
        tutor.wait("5/14", "测验")


@pytest.mark.parametrize("term", ["screen", "xterm", "xterm-256color", "tmux-256color"])
def test_the_tutor_works_in_terminals_of_several_kinds(tmp_path: Path, term: str) -> None:
    with PtyApp("--lang", "zh", "self-attention#formula", home=tmp_path, environment={"TERM": term}) as tutor:
        tutor.wait("3/14", "softmax")
        tutor.send("]")
        tutor.wait("4/14")


def test_no_color_means_no_colour(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention", home=tmp_path, environment={"NO_COLOR": "1"}) as tutor:
        tutor.wait("1/14")
        tutor.settle()
        greys = {b"48;2;%d;%d;%d" % (n, n, n) for n in range(256)}
        used = {part for part in bytes(tutor.output).split(b"\x1b[") if part.startswith(b"48;2;")}
        assert all(any(part.startswith(grey) for grey in greys) for part in used)


def test_a_dumb_terminal_gets_the_map_as_text(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", home=tmp_path, environment={"TERM": "dumb"}) as tutor:
        assert tutor.wait_for_exit(20) == 0
        assert "tutor show self-attention" in tutor.text()
        assert b"\x1b" not in tutor.output


def test_a_resize_is_followed_down_to_too_small_and_back(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention#by-hand", home=tmp_path, size=(120, 36)) as tutor:
        tutor.wait("One query", "sdpa")
        tutor.resize(50, 15)
        tutor.wait("50 × 15")
        tutor.resize(80, 24)
        tutor.wait("One query")
        tutor.resize(200, 50)
        tutor.wait("One query", "sdpa")


def test_old_style_mouse_bytes_do_not_end_the_tutor(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention", home=tmp_path) as tutor:
        tutor.wait("1/14")
        tutor.send(b"\x1b[M \xe9\xf0" + b"\x1b[M#\xff\xfe" + b"\xc3\x28\x80")
        tutor.settle()
        tutor.send("]")
        tutor.wait("2/14")


def test_closing_the_terminal_ends_the_tutor_and_its_engine(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention#by-hand", home=tmp_path) as tutor:
        tutor.wait("cpu")
        family = descendants(tutor.pid)
        assert family
        os.kill(tutor.pid, signal.SIGHUP)
        assert tutor.wait_for_exit(5) is not None
    assert _gone(family)


def test_a_killed_tutor_leaves_no_engine_behind_and_loses_nothing_confirmed(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention#softmax", home=tmp_path) as tutor:
        tutor.wait("5/14", "cpu")
        tutor.send("\r\r")
        tutor.settle()
        tutor.send("0.5\r")
        tutor.wait("✓")
        tutor.wait("saved")
        tutor.settle()
        family = descendants(tutor.pid)
        os.kill(tutor.pid, signal.SIGKILL)
        assert tutor.wait_for_exit(5) is not None
    assert _gone(family)
    assert [answer.right for answer in Store(tmp_path).answers("L08")] == [True]


def test_a_killed_engine_comes_back_and_the_tutor_says_so(tmp_path: Path) -> None:
    with PtyApp("--lang", "en", "self-attention#by-hand", home=tmp_path, size=(120, 36)) as tutor:
        tutor.wait("cpu", "sdpa")
        for pid in descendants(tutor.pid):
            os.kill(pid, signal.SIGKILL)
        tutor.settle()
        tutor.send("\x1b[15~")  # F5: the prediction has the keyboard
        tutor.settle()
        tutor.send("s")
        tutor.wait("0.4011")


def _gone(family: set[int], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while alive(family) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(family)
