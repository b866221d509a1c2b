"""`tutor probe FILE[:NAME]`: a learner's own module or function on a text, run by the engine in a child with limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from engine.contract.json import report_json
from engine.contract.message import Message, say
from engine.contract.parameters import read_seed
from tutor.cli.arguments import Parser
from tutor.cli.errors import UsageError
from tutor.cli.files import read_bytes
from tutor.cli.output import Output, print_json
from tutor.cli.run import print_results
from tutor.cli.shell import Shell, language_option, own_engine_option

LARGEST = 1 << 20  # bytes of source
TEXTS = {"zh": "猫 坐 在 垫子 上", "en": "The cat sat on the mat"}


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.word("FILE", say("a Python file, and the class, function or module meant in it: my.py:Attention"))
    parser.part(say("options"))
    parser.option("--text", value="TEXT", default=TEXTS[shell.language], help=say("what it reads"))
    parser.option("--seed", value="N", default="0", help=say("seed of the random numbers, 0 to 9999"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    own_engine_option(parser)
    language_option(parser)
    parser.epilog = shell.tr(
        say(
            "The file is run in a process of its own with limits on time, memory and files. This guards against "
            "accidents, not malice: probe only code that you would run yourself."
        )
    )


def run(options: Namespace, shell: Shell) -> int:
    """Probe the file and print what was found."""
    from tutor.cli.engine import Engine

    if options.file is None:
        raise UsageError(say("Name the file to probe, for example: tutor probe my.py:Attention"), "file")
    file, name = split_name(options.file)
    seed = read_seed(options.seed)
    if isinstance(seed, Message):
        raise UsageError(seed, "seed", "invalid")
    source = _source(file)
    with Engine(options, shell.tr) as engine:
        report = engine.probe(Path(file).name, source, name, options.text, seed)
    if options.json:
        print_json(report_json("probe", {"file": file, "name": name, "text": options.text}, report, shell.tr))
    else:
        print_results(report, Output(shell.language, plain=options.plain))
    return 1 if any(invariant.holds is False for invariant in report.invariants) else 0


def split_name(given: str) -> tuple[str, str]:
    """Return the file and the name of FILE:NAME; a colon in the name of a file that exists belongs to it."""
    file, colon, name = given.rpartition(":")
    if not colon or not name.isidentifier() or Path(given).exists():
        return given, ""
    return file, name


def _source(file: str) -> str:
    try:
        return read_bytes(file, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(
            say("The file {file} is not UTF-8 text; save it as UTF-8.", file=file[:300]), "file", "invalid"
        ) from None
