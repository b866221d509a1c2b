"""`tutor doctor`: what this terminal, these lessons and this engine can do, and what to mend."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from engine.contract.json import SCHEMA
from engine.contract.message import Message, say
from tutor.cli.arguments import Parser, Translate
from tutor.cli.check_engine import check_engine
from tutor.cli.checks import (
    Section,
    check_lessons,
    check_progress,
    check_terminal,
    check_text,
    check_versions,
)
from tutor.cli.output import Output, print_json
from tutor.cli.shell import Shell, engine_options, language_option, lessons_option
from tutor.text.width import cells, pad

# Glyphs that some terminals draw two cells wide, and Chinese, which every terminal must.
_RULERS = ("█▀│─●→…×√", "中文与英文对齐")


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.part(say("options"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    engine_options(parser)
    lessons_option(parser)
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print what was found; 1 when something wants mending."""
    catalog = shell.catalog(options.lessons)
    sections = [
        check_terminal(os.environ),
        check_text(os.environ),
        check_versions(),
        check_lessons(catalog),
        check_progress(shell.store),
        check_engine(options),
    ]
    problems = [problem for section in sections for problem in section.problems]
    if options.json:
        print_json(_json(sections, shell))
    else:
        _print(sections, problems, Output(shell.language, plain=options.plain))
    return 1 if problems else 0


def _json(sections: Sequence[Section], shell: Shell) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "ok": not any(section.problems for section in sections),
        **{
            section.id: {name: _text(value, shell.tr) for name, (_, value) in section.facts.items()}
            for section in sections
        },
        "problems": [
            {"section": section.id, "message": shell.tr(problem)}
            for section in sections
            for problem in section.problems
        ],
    }


def _text(value: str | Message, tr: Translate) -> str:
    return value if isinstance(value, str) else tr(value)


def _print(sections: Sequence[Section], problems: Sequence[Message], out: Output) -> None:
    from rich.text import Text

    for section in sections:
        out.print(Text(out.tr(section.title), style="bold"))
        rows = [(_text(label, out.tr), _text(value, out.tr)) for label, value in section.facts.values()]
        room = max(cells(label) for label, _ in rows) + 2
        for label, value in rows:
            out.print(f"  {pad(label, room)}{value}")
        if section.id == "text":
            _print_rulers(out)
        out.print()
    for problem in problems:
        out.print(f"! {out.tr(problem)}")
    if not problems:
        out.say(say("Nothing to mend."))


def _print_rulers(out: Output) -> None:
    """Print glyphs between bars, with digits of the same width below: where the bars do not meet, widths are wrong."""
    out.print("  " + out.tr(say("The bars at the right must stand one under the other:")))
    for ruler in _RULERS:
        digits = "".join(str(column % 10) for column in range(1, cells(ruler) + 1))
        out.print(f"  |{ruler}|")
        out.print(f"  |{digits}|")
    out.print(
        "  "
        + out.tr(
            say("If they do not, turn off “ambiguous characters are wide” in the terminal, or choose another font.")
        )
    )
