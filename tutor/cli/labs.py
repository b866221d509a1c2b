"""`tutor labs`: the labs there are, and what can be asked of each."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import msgspec

from engine.contract.declarations import Lab
from engine.contract.json import SCHEMA
from engine.contract.kinds import Boolean, Choice, Choices, Integer, Kind, Numbers, Real, Text
from engine.contract.labs import declaration, names
from engine.contract.message import Message, say
from engine.contract.parameters import defaults, kinds
from tutor.cli.arguments import Parser, Translate
from tutor.cli.output import Output, print_json
from tutor.cli.shell import Shell, language_option
from tutor.parameter_values import editable


def options(parser: Parser, words: Sequence[str], shell: Shell) -> None:
    """Declare the options."""
    parser.part(say("options"))
    parser.flag("--json", help=say("print one JSON object"))
    parser.flag("--plain", help=say("print without escape codes"))
    language_option(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print the labs."""
    labs = [declaration(name) for name in names()]
    if options.json:
        print_json({"schema": SCHEMA, "labs": [_json(lab, shell) for lab in labs]})
    else:
        _print_labs(labs, Output(shell.language, plain=options.plain))
    return 0


def flag_of(field: str) -> str:
    """Return the option that sets a parameter."""
    return "--" + field.replace("_", "-")


def range_of(kind: Kind) -> Message | str:
    """Return what a parameter takes, in a few words."""
    if isinstance(kind, Integer):
        step = f", {kind.step}" if kind.step > 1 else ""
        return f"{kind.minimum} … {kind.maximum}{step}"
    if isinstance(kind, Real):
        return f"{kind.minimum:g} … {kind.maximum:g}"
    if isinstance(kind, Choice):
        return " | ".join(map(str, kind.options))
    if isinstance(kind, Choices):
        return say("any of {options}, with commas", options=", ".join(kind.options))
    if isinstance(kind, Boolean):
        return "on | off"
    if isinstance(kind, Numbers):
        return say("numbers; rows end in ;") if kind.shape == "matrix" else say("numbers")
    return say("text, up to {most} characters", most=kind.most)


def default_of(kind: Kind, value: Any) -> str:
    """Return a default as one would type it."""
    if isinstance(kind, Boolean):
        return "on" if value else "off"
    return ",".join(value) if isinstance(kind, Choices) else editable(kind, value)


def _json(lab: Lab, shell: Shell) -> dict[str, Any]:
    values = defaults(lab.parameters, shell.language)
    cost = lab.estimate(lab.parameters())
    return {
        "name": lab.name,
        "title": shell.tr(lab.title),
        "notice": shell.tr(lab.notice),
        "lessons": list(lab.lessons),
        "runs_on": lab.runs_on,
        "trains": lab.trains,
        "seconds": cost.seconds,
        "parameters": [
            {
                "name": name,
                "flag": flag_of(name),
                "kind": type(kind).__name__.lower(),
                "label": shell.tr(kind.label),
                "default": msgspec.to_builtins(values[name]),
                **_limits(kind, shell.tr),
            }
            for name, kind in kinds(lab.parameters).items()
        ],
    }


def _limits(kind: Kind, tr: Translate) -> dict[str, Any]:
    if isinstance(kind, Integer):
        return {"minimum": kind.minimum, "maximum": kind.maximum, "step": kind.step}
    if isinstance(kind, Real):
        return {"minimum": kind.minimum, "maximum": kind.maximum, "scale": kind.scale}
    if isinstance(kind, Choice):
        return {"options": [_option(option, kind.option_label(option), tr) for option in kind.options]}
    if isinstance(kind, Choices):
        return {"options": [_option(option, kind.option_label(option), tr) for option in kind.options]}
    if isinstance(kind, Text):
        return {"longest": kind.most}
    if isinstance(kind, Numbers):
        limits = {"shape": kind.shape, "columns": kind.most_columns, "minimum": -kind.limit, "maximum": kind.limit}
        return {**limits, "rows": kind.most_rows} if kind.shape == "matrix" else limits
    return {}


def _option(value: int | str, label: Message | str, tr: Translate) -> dict[str, Any]:
    return {"value": value, "label": label if isinstance(label, str) else tr(label)}


def _print_labs(labs: Sequence[Lab], out: Output) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    for lab in labs:
        out.print(Text(f"{lab.name}  {out.tr(lab.title)}", style="bold"))
        values = defaults(lab.parameters, out.language)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column(out.tr(say("option")), no_wrap=True)
        table.add_column(out.tr(say("meaning")), overflow="fold")
        table.add_column(out.tr(say("takes")), overflow="fold")
        table.add_column(out.tr(say("default")), overflow="fold")
        for name, kind in kinds(lab.parameters).items():
            takes = range_of(kind)
            written = takes if isinstance(takes, str) else out.tr(takes)
            table.add_row(flag_of(name), out.tr(kind.label), written, default_of(kind, values[name]))
        out.print(table)
        out.print()
    out.say(say("Run one with `tutor run LAB`, for example: tutor run {example}", example=labs[0].name))
