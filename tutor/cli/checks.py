"""What `tutor doctor` looks at, one function a subject; none of them starts a process or needs a terminal."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata

from engine.contract.message import Message, say
from tutor.cli.streams import encoding_of, holds_chinese
from tutor.course.catalog import Catalog
from tutor.course.lint import lint
from tutor.progress.place import data_directory
from tutor.progress.store import FILE_NAME, Store
from tutor.terminal import Depth, colour_depth, draws_unicode

DISTRIBUTION = "transformer-tutor"
SHOWN_PACKAGES = ("textual", "rich", "plotext", "torch", "numpy", "msgspec")
SMALLEST = (60, 20)
_NO_VALUE = "–"

Facts = dict[str, tuple[str | Message, str | Message]]
"""What was found, by a name for programs: a label and a value, each a name or a message."""


@dataclass(frozen=True)
class Section:
    """One subject: its facts, and for every problem a sentence that says what to do."""

    id: str
    title: Message
    facts: Facts
    problems: tuple[Message, ...] = ()


def check_terminal(environment: Mapping[str, str]) -> Section:
    """Look at the terminal: its kind, colours, size, and what stands between it and the tutor."""
    term = environment.get("TERM", "")
    depth = colour_depth(environment)
    there = sys.stdout.isatty()
    size = shutil.get_terminal_size()
    facts: Facts = {
        "term": ("TERM", term or _NO_VALUE),
        "colorterm": ("COLORTERM", environment.get("COLORTERM") or _NO_VALUE),
        "colours": (say("colours"), _colours(depth, environment)),
        "size": (say("size"), f"{size.columns}×{size.lines}" if there else say("not a terminal")),
        "multiplexer": (say("inside"), _multiplexer(environment)),
    }
    return Section("terminal", say("Terminal"), facts, tuple(_terminal_problems(term, depth, size, there)))


def _colours(depth: Depth, environment: Mapping[str, str]) -> str | Message:
    if environment.get("NO_COLOR"):
        return say("none, as NO_COLOR asks")
    if depth is Depth.NONE:
        return say("none")
    return {Depth.ANSI16: "16", Depth.ANSI256: "256"}.get(depth) or say("24 bit")


def _multiplexer(environment: Mapping[str, str]) -> str:
    term = environment.get("TERM", "")
    inside = [
        name
        for name, found in (
            ("tmux", environment.get("TMUX") or term.startswith("tmux")),
            ("screen", environment.get("STY")),
            ("ssh", environment.get("SSH_CONNECTION")),
            ("VS Code", environment.get("TERM_PROGRAM") == "vscode"),
        )
        if found
    ]
    return ", ".join(inside) or _NO_VALUE


def _terminal_problems(term: str, depth: Depth, size: os.terminal_size, there: bool) -> Iterator[Message]:
    """Yield what would hamper the course in this terminal; nothing where there is none."""
    if not there:
        return
    if term.lower() in ("", "dumb", "unknown"):
        yield say(
            "TERM is “{term}”: the course cannot open here. Use a terminal, or set TERM=xterm-256color.", term=term
        )
    elif depth is Depth.ANSI16:
        yield say("Only 16 colours: if the terminal has more, set TERM=xterm-256color (in tmux: tmux-256color).")
    if size.columns < SMALLEST[0] or size.lines < SMALLEST[1]:
        yield say(
            "The terminal is {columns}×{lines}; enlarge it to {least_columns}×{least_lines} or more.",
            columns=size.columns,
            lines=size.lines,
            least_columns=SMALLEST[0],
            least_lines=SMALLEST[1],
        )


def check_text(environment: Mapping[str, str]) -> Section:
    """Look at the locale and at the encodings of input, output and file names."""
    chosen = next((name for name in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(name)), "")
    facts: Facts = {
        "locale": (say("locale"), f"{chosen}={environment[chosen]}" if chosen else _NO_VALUE),
        "encoding": (say("locale's encoding"), locale.getpreferredencoding(False)),
        "stdin": ("stdin", encoding_of(sys.stdin)),
        "stdout": ("stdout", encoding_of(sys.stdout)),
        "file_names": (say("file names"), sys.getfilesystemencoding()),
    }
    problems = []
    if not holds_chinese(sys.stdout) or not draws_unicode(encoding_of(sys.stdout)):
        problems.append(
            say(
                "The output's encoding, {encoding}, lacks letters and blocks: set LANG=C.UTF-8 or another UTF-8 one.",
                encoding=encoding_of(sys.stdout),
            )
        )
    return Section("text", say("Text"), facts, tuple(problems))


def check_versions() -> Section:
    """Look at Python and the packages the tutor stands on."""
    facts: Facts = {
        "python": ("Python", f"{platform.python_version()}  {sys.executable}"),
        "tutor": ("tutor", _version(DISTRIBUTION) or say("not installed")),
    }
    problems = []
    for name in SHOWN_PACKAGES:
        version = _version(name)
        facts[name] = (name, version or say("not installed"))
        if not version:
            problems.append(say("The package {package} is missing: run make again.", package=name))
    exact = _pinned("textual")
    if exact and (found := _version("textual")) and found != exact:
        problems.append(
            say("textual is {found}, but the tutor needs {exact}: run make again.", found=found, exact=exact)
        )
    return Section("versions", say("Versions"), facts, tuple(problems))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _pinned(package: str) -> str:
    """Return the exact version that the tutor's own metadata ask for."""
    try:
        needed = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return ""
    return next((line.partition("==")[2] for line in needed if line.startswith(f"{package}==")), "")


def check_lessons(catalog: Catalog) -> Section:
    """Look at the lesson pack."""
    faults = lint(catalog.root)
    facts: Facts = {
        "folder": (say("folder"), str(catalog.root)),
        "lessons": (say("lessons"), str(len(catalog.course.lessons))),
        "faults": (say("faults"), str(len(faults))),
    }
    problems = [say("The lessons have {faults} faults: `tutor lint` lists them.", faults=len(faults))] if faults else []
    return Section("lessons", say("Lessons"), facts, tuple(problems))


def check_progress(store: Store) -> Section:
    """Look at the learner's progress file."""
    folder = data_directory()
    file = folder / FILE_NAME if folder else None
    state: str | Message = say("not begun")
    if file is not None and file.exists():
        state = say(
            "{bytes:,} bytes, {answers} answers, {runs} runs",
            bytes=file.stat().st_size,
            answers=len(store.answers()),
            runs=len(store.runs()),
        )
    facts: Facts = {
        "file": (say("file"), str(file) if file else _NO_VALUE),
        "state": (say("state"), state),
    }
    problems = [store.notice] if store.notice else []
    if not problems and folder is not None and not _writable(folder):
        problems.append(
            say("The folder {folder} cannot be written: set TUTOR_HOME to another folder.", folder=str(folder))
        )
    return Section("progress", say("Progress"), facts, tuple(problems))


def _writable(folder: os.PathLike[str]) -> bool:
    """Tell whether the folder, or the nearest one above it that exists, lets us write."""
    path = os.path.abspath(folder)
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
