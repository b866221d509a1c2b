"""From the words of a command line to an exit code; nothing a user can do ends in a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from engine.contract.json import error_json
from engine.contract.message import Message, say
from tutor.cli.arguments import Parser
from tutor.cli.errors import INTERNAL, INTERRUPTED, UNREAD, UNWRITABLE, USAGE, CommandError
from tutor.cli.output import legible, print_json, warn
from tutor.cli.shell import Shell, check_shared
from tutor.cli.streams import drop_output, prepare_streams
from tutor.i18n import translate

# Shared options that take a value, needed to find the command before its own options are known.
_VALUED = ("--lang", "--device", "--engine", "--theme", "--lessons", "--gpu-memory", "--seed", "--out")

_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


@dataclass(frozen=True)
class Command:
    """A command; its module in `tutor.cli` has `options(parser, words, shell)` and `run(options, shell)`."""

    name: str
    usage: str
    summary: Message
    module: str


OPEN = Command(
    "",
    "tutor [LESSON[#STEP]] [options]\n       tutor COMMAND [options]",
    say("A course from sequence data to the Transformer that runs every idea in the terminal."),
    "open",
)
COMMANDS = (
    Command("lessons", "tutor lessons [options]", say("List the lessons."), "lessons"),
    Command("labs", "tutor labs [options]", say("List the labs and their parameters."), "labs"),
    Command(
        "show",
        "tutor show LESSON[#STEP] [options]",
        say("Print a lesson with its labs run and the answers at the end."),
        "show",
    ),
    Command("run", "tutor run LAB [--PARAM VALUE ...] [options]", say("Run one lab."), "run"),
    Command(
        "probe",
        "tutor probe FILE[:NAME] [options]",
        say("Look into your own nn.Module or function: its parts, its attention, its gradients."),
        "probe",
    ),
    Command("view", "tutor view FILE [options]", say("Show the tensors in a file."), "view"),
    Command("lint", "tutor lint [DIR] [options]", say("Check a folder of lessons for mistakes."), "lint"),
    Command(
        "doctor",
        "tutor doctor [options]",
        say("Check this terminal, the lessons and the engine, and say what to mend."),
        "doctor",
    ),
)


def run(words: Sequence[str]) -> int:
    """Carry out a command line and return its exit code."""
    if sys.platform == "win32":
        print("tutor runs on Linux, macOS and WSL: open a WSL terminal. tutor 可在 Linux、macOS 与 WSL 上运行。")
        return USAGE
    prepare_streams()
    language = "en"
    try:
        shell = Shell(words)
        language = shell.language
        code = _carry_out(words, shell)
        sys.stdout.flush()
        return code
    except CommandError as failed:
        return _refuse(words, language, failed)
    except KeyboardInterrupt:
        warn(language, say("Interrupted."))
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return UNREAD
    except Exception as error:
        return _give_up(language, error)


def split_command(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command that the first word names (opening the app, if it names none) and the other words."""
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-":
        index += 2 if words[index] in _VALUED else 1
    command = next((c for c in COMMANDS if index < len(words) and c.name == words[index]), None)
    if command is None:
        return OPEN, list(words)
    return command, [*words[:index], *words[index + 1 :]]


def _carry_out(words: Sequence[str], shell: Shell) -> int:
    command, rest = split_command(words)
    module = import_module(f"tutor.cli.{command.module}")
    language = legible(shell.language, sys.stdout)
    parser = Parser(command.usage, command.summary, lambda message: translate(message, language))
    module.options(parser, rest, shell)
    if command is OPEN:
        parser.mention(say("commands"), [(other.name, other.summary) for other in COMMANDS])
    if "--help" in rest or "-h" in rest:
        print(parser.format_help(), end="")
        return 0
    options = parser.read(rest)
    check_shared(options)
    code: int = module.run(options, shell)
    return code


def _refuse(words: Sequence[str], language: str, failed: CommandError) -> int:
    """Say what went wrong: on stderr, or as the one JSON object on stdout."""
    if "--json" not in words:
        warn(language, failed.message)
        return failed.exit_code
    from tutor.text.width import clean

    try:
        print_json(error_json(failed.code, clean(translate(failed.message, language)), failed.field))
        sys.stdout.flush()
    except OSError:
        drop_output()
    return failed.exit_code


def _give_up(language: str, error: Exception) -> int:
    """Say in one sentence that the output or the tutor failed; the details of a fault of ours go to the log."""
    if isinstance(error, OSError) and error.filename is None and error.errno in _WRITE_ERRORS:
        warn(language, say("The output cannot be written: {reason}.", reason=error.strerror or str(error)))
        drop_output()
        return UNWRITABLE
    from tutor.cli.crash import keep_traceback

    warn(
        language,
        say(
            "The tutor failed ({kind}); please report it with the file {log}.",
            kind=type(error).__name__,
            log=keep_traceback(error),
        ),
    )
    return INTERNAL
