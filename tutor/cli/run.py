"""`tutor run LAB`: one lab with the parameters given, as text, JSON or a file."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from engine.contract.declarations import Cost, Lab
from engine.contract.json import report_json
from engine.contract.kinds import Boolean
from engine.contract.labs import MODULES, UnknownLab, declaration, names
from engine.contract.message import Message, say
from engine.contract.parameters import InvalidParameters, build, defaults, kinds, read_seed, to_plain
from engine.contract.report import Report
from tutor.cli.arguments import Parser
from tutor.cli.errors import UsageError
from tutor.cli.labs import default_of, flag_of, range_of
from tutor.cli.output import MARKS, Output, legible, print_json, warn
from tutor.cli.shell import Shell, engine_options, language_option
from tutor.cli.values import Values

LONG_SECONDS, GIB = 2.0, 1 << 30
_DEST = "param "  # no option of ours has a blank in its name


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options; those of the lab that the words name, if they name one, come first."""
    parser.word("LAB", say("a lab; `tutor labs` lists them"))
    name = lab_name(words)
    if name in MODULES:
        lab = declaration(name)
        parser.usage = f"tutor run {name} [--PARAM VALUE ...] [options]"
        parser.part(lab.title)
        for field, kind in kinds(lab.parameters).items():
            default = default_of(kind, defaults(lab.parameters, shell.language)[field])
            _declare(parser, field, kind, default)
    parser.part(say("options"))
    parser.option("--seed", value="N", default="0", help=say("seed of the random numbers, 0 to 9999"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    parser.option("--out", value="FILE", help=say("also write the result to a file: .json, .csv, .html or .svg"))
    engine_options(parser)
    language_option(parser)
    parser.epilog = shell.tr(
        say("A value @FILE is read from a file, - from stdin; @@ begins a value with an @ of its own.")
    )


def run(options: Namespace, shell: Shell) -> int:
    """Run the lab and print its report."""
    from tutor.cli.engine import Engine
    from tutor.cli.export import check_target, export

    lab = _lab(options.lab)
    language = shell.language if options.json else legible(shell.language, sys.stdout)
    built = _params(lab, options, language)
    params = to_plain(built)
    seed = read_seed(options.seed)
    if isinstance(seed, Message):
        raise UsageError(seed, "seed", "invalid")
    check_target(options.out)
    announce(lab.estimate(built), shell.language)
    with Engine(options, shell.tr) as engine:
        report = engine.run(lab.name, params, seed, language)
    if options.json:
        print_json(report_json(lab.name, params, report, shell.tr))
    else:
        print_report(lab, params, report, Output(shell.language, plain=options.plain))
    if options.out:
        export(options.out, lab, params, report, shell.language)
    return 1 if any(invariant.holds is False for invariant in report.invariants) else 0


def announce(cost: Cost, language: str) -> None:
    """Tell a person, on stderr, what a run will take when it is more than a moment or much memory."""
    if sys.stderr.isatty() and (cost.seconds > LONG_SECONDS or cost.bytes > GIB):
        warn(
            language,
            say(
                "This takes about {seconds:.0f} s and {gib:.1f} GiB of memory on one core.",
                seconds=cost.seconds,
                gib=cost.bytes / GIB,
            ),
        )


def lab_name(words: Sequence[str]) -> str:
    """Return the first word that is neither an option nor the value of one."""
    after_option = False
    for word in words:
        if word.startswith("-") and word != "-":
            after_option = "=" not in word and word not in ("--json", "--plain", "--help", "-h")
        elif not after_option or word in MODULES:
            return word
        else:
            after_option = False
    return ""


def print_report(lab: Lab, params: dict[str, Any], report: Report, out: Output) -> None:
    """Print what a run found: its figures, what was checked, where it ran."""
    from rich.text import Text

    out.print(Text(f"{lab.name}  {out.tr(lab.title)}", style="bold"))
    out.print(command_of(lab, params, out.language))
    out.print()
    print_results(report, out)


def print_results(report: Report, out: Output) -> None:
    """Print figures, checks and the place of a run."""
    for panel in report.panels:
        out.panel(panel)
        out.print()
    for invariant in report.invariants:
        first, *rest = out.broken(f"{out.tr(invariant.name)}  ({out.tr(invariant.detail)})", indent=2)
        out.print(f"{MARKS[invariant.holds]} {first}")
        for line in rest:
            out.print(f"  {line}")
    if report.invariants:
        out.print()
    out.say(
        say("{device}, seed {seed}, {seconds:.2f} s", device=report.device, seed=report.seed, seconds=report.seconds)
    )


def command_of(lab: Lab, params: dict[str, Any], language: str) -> str:
    """Return the command that makes this run: the parameters that are not the defaults."""
    import shlex

    standard = to_plain(build(lab.parameters, {}, language))
    words = [
        word
        for field, kind in kinds(lab.parameters).items()
        if params[field] != standard[field]
        for word in (flag_of(field), shlex.quote(_typed(default_of(kind, params[field]))))
    ]
    return " ".join(["tutor run", lab.name, *words])


def _typed(value: str) -> str:
    return "@" + value if value.startswith("@") else value


def _declare(parser: Parser, field: str, kind: Any, default: str) -> None:
    takes = range_of(kind)
    about = say("{label}: {takes}", label=kind.label, takes=takes)
    if default:
        about = say("{label}: {takes} (default {default})", label=kind.label, takes=takes, default=default)
    if isinstance(kind, Boolean):
        parser.option(flag_of(field), value="on|off", nargs="?", const="on", dest=_DEST + field, help=about)
        off = "--no-" + field.replace("_", "-")
        parser.constant(off, "off", dest=_DEST + field)
    else:
        parser.option(flag_of(field), value=field.upper(), dest=_DEST + field, help=about)


def _lab(name: str | None) -> Lab:
    if name is None:
        raise UsageError(say("Name the lab to run; there are: {labs}.", labs=", ".join(names())), "lab")
    try:
        return declaration(name)
    except UnknownLab as unknown:
        raise UsageError(unknown.message, "lab", "unknown-lab") from None


def _params(lab: Lab, options: Namespace, language: str) -> Any:
    values = Values()
    given = {
        field: values.read(field, kind, text)
        for field, kind in kinds(lab.parameters).items()
        if (text := getattr(options, _DEST + field)) is not None
    }
    try:
        return build(lab.parameters, given, language)
    except InvalidParameters as refused:
        problem = refused.problems[0]
        raise UsageError(problem.message, problem.field, "invalid") from None
