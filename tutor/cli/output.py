"""What a command prints: results on stdout, everything else on stderr, in the learner's language."""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from engine.contract.message import Message, say
from tutor.cli.streams import drop_output, encoding_of, holds_chinese
from tutor.i18n import translate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from engine.contract.report import Panel
    from tutor.pictures.ink import Line
    from tutor.terminal import Terminal

WIDEST = 100  # longer lines of prose are hard to read
NARROWEST = 30
PICTURE_LINES = 20
MARKS = {True: "✓", False: "✗", None: "–"}
"""What stands before a checked statement that holds, does not hold, does not apply."""


class Output:
    """Prints text, tables and pictures; with colour on a terminal, without any escape code elsewhere."""

    def __init__(self, language: str, *, plain: bool = False) -> None:
        self.stream: TextIO = sys.stdout
        self.styled = not plain and is_terminal(self.stream)
        self.language = legible(language, self.stream)
        if not holds_chinese(self.stream):
            warn(
                language,
                say(
                    "The output's encoding, {encoding}, lacks letters and blocks: pictures are drawn in ASCII. "
                    "Set PYTHONIOENCODING=utf-8 or a UTF-8 locale.",
                    encoding=encoding_of(self.stream),
                ),
            )

    def tr(self, message: Message) -> str:
        """Return `message` in the learner's language."""
        return translate(message, self.language)

    def say(self, message: Message) -> None:
        """Print one sentence."""
        self.print(self.tr(message))

    def print(self, content: str | Text | Table = "") -> None:
        """Print a line of text as it is, however long, or a table."""
        if self.styled:
            self.console.print(content, soft_wrap=not hasattr(content, "columns"))
        elif isinstance(content, str):
            self.stream.write(content + "\n")
        elif hasattr(content, "columns"):
            with self.console.capture() as captured:
                self.console.print(content)
            self.stream.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())
        else:
            self.stream.write(content.plain.rstrip() + "\n")

    def line(self, line: Line) -> None:
        """Print one line of a picture."""
        from tutor.pictures.ink import plain, rich_text

        self.print(rich_text(line) if self.styled else plain(line))

    def broken(self, text: str, indent: int = 0) -> list[str]:
        """Return text in lines that leave room for `indent` cells."""
        from rich.text import Text

        from tutor.text.wrap import wrap

        return [line.plain for line in wrap(Text(text), self.width - indent)]

    def panel(self, panel: Panel) -> None:
        """Print a figure, a table or a note of a report."""
        from tutor.pictures.panel import panel_lines, plain_lines

        if self.styled:
            for line in panel_lines(panel, self.width, PICTURE_LINES, self.tr, self.terminal):
                self.line(line)
        else:
            for text in plain_lines(panel, self.width, self.tr, self.terminal.unicode):
                self.print(text)

    @cached_property
    def terminal(self) -> Terminal:
        """What the pictures may use."""
        from tutor.terminal import describe

        return describe(os.environ, encoding_of(self.stream), plain=not self.styled)

    @cached_property
    def width(self) -> int:
        """The cells of a line: the terminal's up to a readable width, else COLUMNS, else 80."""
        columns = os.environ.get("COLUMNS", "")
        if self.styled:
            found = shutil.get_terminal_size().columns
        else:
            found = int(columns) if columns.isdecimal() and len(columns) < 6 and int(columns) else 80
        return max(NARROWEST, min(found, WIDEST))

    @cached_property
    def console(self) -> Console:
        """Rich, told what this terminal can do."""
        from rich.console import Console
        from rich.theme import Theme

        from tutor.terminal import Depth
        from tutor.text.styles import STYLES
        from tutor.text.wrap import install_rich

        install_rich()
        systems: dict[Depth, Any] = {Depth.TRUE: "truecolor", Depth.ANSI256: "256", Depth.ANSI16: "standard"}
        return Console(
            file=self.stream,
            width=self.width,
            force_terminal=self.styled,
            force_jupyter=False,
            color_system=systems.get(self.terminal.depth) if self.styled else None,
            theme=Theme(STYLES),
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )


def print_json(thing: object) -> None:
    """Print one JSON object and nothing else; letters that the encoding may lack are escaped."""
    utf8 = encoding_of(sys.stdout).lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(thing, ensure_ascii=not utf8, allow_nan=False) + "\n")


def warn(language: str, message: Message) -> None:
    """Print a sentence on stderr; where it cannot be written, the exit code alone must tell."""
    from tutor.text.width import clean

    try:
        sys.stderr.write(f"tutor: {clean(translate(message, legible(language, sys.stderr)))}\n")
        sys.stderr.flush()
    except OSError:
        drop_output(sys.stderr)


def legible(language: str, stream: TextIO) -> str:
    """Return the language, or English where the stream cannot show Chinese."""
    return language if language == "en" or holds_chinese(stream) else "en"


def is_terminal(stream: TextIO) -> bool:
    """Tell whether the stream is a terminal that understands more than plain characters."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown", "")
