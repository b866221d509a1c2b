"""`tutor view FILE`: the tensors in a .npy, .npz, .pt or .safetensors file as a list, a table, a picture."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from engine.contract.json import report_json
from engine.contract.message import say
from engine.contract.protocol import LARGEST_FRAME
from tutor.cli.arguments import Parser
from tutor.cli.errors import UsageError
from tutor.cli.files import read_bytes
from tutor.cli.output import Output, print_json
from tutor.cli.run import print_results
from tutor.cli.shell import Shell, language_option, own_engine_option

KINDS = (".npy", ".npz", ".pt", ".pth", ".bin", ".safetensors")
PICKLES = (".pkl", ".pickle", ".joblib", ".dill")
LARGEST = LARGEST_FRAME - (1 << 16)  # the rest of the message needs little


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.word("FILE", say("a file of tensors: {kinds}", kinds=", ".join(KINDS)))
    parser.part(say("options"))
    parser.option("--name", value="NAME", default="", help=say("one tensor of the file"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    own_engine_option(parser)
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print what the file holds."""
    from tutor.cli.engine import Engine

    if options.file is None:
        raise UsageError(say("Name the file to show, for example: tutor view weights.npy"), "file")
    check_kind(options.file)
    data = read_bytes(options.file, LARGEST)
    with Engine(options, shell.tr) as engine:
        report = engine.view(Path(options.file).name, data, options.name)
    if options.json:
        print_json(report_json("view", {"file": options.file, "name": options.name}, report, shell.tr))
    else:
        print_results(report, Output(shell.language, plain=options.plain))
    return 0


def check_kind(file: str) -> None:
    """Refuse, before anything is read, a kind of file that holds no tensors or could run code."""
    kind = Path(file).suffix.lower()
    if kind in PICKLES:
        message = say(
            "{file} is a pickle, and loading one runs the code it names; save the numbers as .npy or .safetensors.",
            file=file[:300],
        )
        raise UsageError(message, "file", "invalid")
    if kind not in KINDS:
        message = say("{file} is none of: {kinds}.", file=file[:300], kinds=", ".join(KINDS))
        raise UsageError(message, "file", "invalid")
