"""The command as a process of its own, with the real engine: pipes, signals, encodings, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TUTOR = [sys.executable, "-m", "tutor"]
CHECKOUT = Path(__file__).resolve().parents[2]


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("TERM", "COLORTERM", "LC_ALL", "LANG")}
    return {**kept, "TUTOR_HOME": str(home), "LC_ALL": "C.UTF-8", **more}


def tutor(
    home: Path, *words: str, encoding: str = "utf-8", stdin: bytes = b"", **more: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*TUTOR, *words], input=stdin, capture_output=True, env=environment(home, **more), cwd=CHECKOUT, timeout=60
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(encoding), done.stderr.decode("utf-8", "replace")
    )


def state(pid: str | int) -> tuple[str, int]:
    """The state letter of a process and its parent; ("Z", 0) for one that is gone."""
    try:
        letter, parent = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
    except OSError:
        return "Z", 0
    return letter, int(parent)


def children(pid: int) -> list[int]:
    return [int(found.name) for found in Path("/proc").glob("[0-9]*") if state(found.name)[1] == pid]


def gone(pid: int) -> bool:
    return state(pid)[0] == "Z"


def wait_for(condition: object, seconds: float) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def slow_run(home: Path) -> tuple[subprocess.Popen[str], int]:
    """A run of some seconds, begun, and the host of its engine."""
    words = ["run", "sqrt-dk", "--trials", "5000", "--keys", "64", "--json"]
    process = subprocess.Popen(
        [*TUTOR, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(home),
        cwd=CHECKOUT,
    )
    assert wait_for(lambda: children(process.pid), 20)
    (host,) = children(process.pid)
    assert wait_for(lambda: [worker for server in children(host) for worker in children(server)], 20)
    time.sleep(0.3)  # the worker takes the run
    return process, host


def test_the_real_engine_answers_in_json(tmp_path: Path) -> None:
    done = tutor(
        tmp_path, "run", "heads", "--sentence", "-", "--heads", "4", "--json", stdin="我 喜欢 在 咖啡馆".encode()
    )
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    maps = [panel for panel in result["panels"] if panel["kind"] == "heatmap"]
    assert [panel["row_labels"] for panel in maps] == [["我", "喜欢", "在", "咖啡馆"]] * 4
    assert [[sum(row) for row in panel["values"]] for panel in maps] == [pytest.approx([1] * 4, abs=1e-12)] * 4
    assert {invariant["holds"] for invariant in result["invariants"]} == {True}


def test_a_lesson_in_a_pipe_is_whole_and_plain(tmp_path: Path) -> None:
    done = tutor(tmp_path, "show", "self-attention", "--lang", "zh")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) > 500
    assert "答案" in done.stdout
    assert re.search(r"最大的权重是 0\.9\d|最大权重 0\.9\d|0\.9\d", done.stdout)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_ctrl_c_cancels_the_run_in_one_line_and_leaves_no_engine(tmp_path: Path) -> None:
    process, host = slow_run(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (130, "", "tutor: Interrupted.\n")
    assert wait_for(lambda: gone(host), 2)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_second_ctrl_c_does_not_leave_a_login_behind_that_never_answers(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*TUTOR, "run", "shuffle", "--engine", "sh -c 'trap \"\" TERM; sleep 30; true'"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(tmp_path),
        cwd=CHECKOUT,
    )
    assert wait_for(lambda: [sleep for login in children(process.pid) for sleep in children(login)], 20)
    login, *_ = children(process.pid)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.03)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (130, "", "tutor: Interrupted.\n")
    assert gone(login)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_an_engine_killed_half_way_is_told_in_one_sentence(tmp_path: Path) -> None:
    process, host = slow_run(tmp_path)
    os.kill(host, signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (69, "")
    assert json.loads(out)["error"]["code"] == "crashed"


@pytest.mark.parametrize("words", ["show self-attention --no-run", "labs", "lessons", "--help", "lint --json"])
def test_a_reader_that_leaves_is_not_complained_to(tmp_path: Path, words: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m tutor {words} | head -c 5; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=environment(tmp_path), cwd=CHECKOUT, encoding="utf-8"
    )
    assert done.stderr == ""
    assert len(done.stdout) == 5
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("closed", [">&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_trouble(tmp_path: Path, closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m tutor lessons {closed}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=environment(tmp_path), cwd=CHECKOUT, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_bad_input_keeps_its_exit_code_where_it_cannot_be_told(tmp_path: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*TUTOR, "run", "heads", "--frob"],
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment(tmp_path),
            cwd=CHECKOUT,
        )
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*TUTOR, "show", "self-attention", "--no-run"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            cwd=CHECKOUT,
            encoding="utf-8",
        )
    assert (done.returncode, done.stderr) == (74, "tutor: The output cannot be written: No space left on device.\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_without_chinese_gets_ascii_and_one_warning(tmp_path: Path, encoding: str) -> None:
    done = tutor(
        tmp_path, "show", "self-attention#shuffle", "--lang", "zh", PYTHONIOENCODING=encoding, encoding=encoding
    )
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "PYTHONIOENCODING=utf-8" in done.stderr
    assert "Shuffle the words" in done.stdout
    assert max(map(ord, done.stdout)) < (128 if encoding == "ascii" else 256)


def test_json_is_exact_in_any_encoding(tmp_path: Path) -> None:
    done = tutor(tmp_path, "lessons", "--json", "--lang", "zh", PYTHONIOENCODING="ascii", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "自注意力：查询、键与值" in [lesson["title"] for lesson in json.loads(done.stdout)["lessons"]]


def test_an_argument_that_is_no_text_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [*(word.encode() for word in TUTOR), b"run", b"heads", b"--sentence", b"\xff\xfe a", b"--json"],
        capture_output=True,
        env=environment(tmp_path),
        cwd=CHECKOUT,
    )
    assert (done.returncode, done.stderr) == (2, b"")
    assert json.loads(done.stdout)["error"]["field"] == "sentence"


def test_without_a_home_the_commands_still_work() -> None:
    bare = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    for words in (["lessons"], ["show", "self-attention", "--no-run"], []):
        done = subprocess.run([*TUTOR, *words], env=bare, capture_output=True, cwd=CHECKOUT, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, b"")


def in_a_terminal(
    home: Path, *words: str, term: str, send: bytes = b"", after: bytes = b"", stderr: Path | None = None
) -> tuple[int, str]:
    """Run the command in a pseudo-terminal of 80×24; send bytes once `after` has been printed."""
    pid, master = pty.fork()
    if pid == 0:
        if stderr:
            os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT), 2)
        os.chdir(CHECKOUT)
        os.execve(sys.executable, [*TUTOR, *words], environment(home, TERM=term, COLUMNS="80", LINES="24"))
    printed, sent, end = b"", False, time.monotonic() + 40
    while time.monotonic() < end:
        try:
            data = os.read(master, 65536)
        except OSError:  # how Linux says that the other side has closed
            break
        if not data:
            break
        printed += data
        if send and not sent and after in printed:
            os.write(master, send)
            sent = True
    os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), printed.decode("utf-8", "replace")


def test_in_a_dumb_terminal_the_course_map_is_printed(tmp_path: Path) -> None:
    code, printed = in_a_terminal(tmp_path, term="dumb")
    assert code == 0
    assert "tutor show self-attention" in printed
    assert "\x1b" not in printed


def test_in_a_terminal_the_app_opens_and_leaves_at_a_key(tmp_path: Path) -> None:
    code, printed = in_a_terminal(tmp_path, "self-attention#by-hand", term="xterm-256color", send=b"q", after=b"4/14")
    assert code == 0
    assert "\x1b[?1049h" in printed
    assert "\x1b[?1049l" in printed


def test_with_stderr_in_a_file_the_app_still_draws_on_the_terminal(tmp_path: Path) -> None:
    code, printed = in_a_terminal(
        tmp_path, "self-attention#by-hand", term="xterm", send=b"q", after=b"4/14", stderr=tmp_path / "log"
    )
    assert code == 0
    assert "Once by hand" in printed
    assert (tmp_path / "log").read_bytes() == b""


def test_in_a_terminal_a_run_has_colour_and_says_what_it_waits_for(tmp_path: Path) -> None:
    code, printed = in_a_terminal(tmp_path, "run", "heads", "--heads", "2", term="xterm-256color")
    assert code == 0
    assert "starting the engine" in printed
    assert re.search("\x1b\\[[0-9;]*48;5;", printed)
    code, printed = in_a_terminal(tmp_path, "run", "heads", "--heads", "2", "--plain", term="xterm-256color")
    assert code == 0
    result = printed.rpartition("\x1b[K")[2]
    assert result.startswith("heads")
    assert "\x1b" not in result
