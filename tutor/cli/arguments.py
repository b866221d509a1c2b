"""The command line's words: options in the learner's language, refusals as one sentence.

argparse does the parsing. Its own messages are English and for programmers, so errors come out as `UsageError` with a
message of ours, and help is laid out here.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from engine.contract.message import Message, say
from tutor.cli.errors import UsageError

Translate = Callable[[Message], str]


class Parser(argparse.ArgumentParser):
    """The options of one command."""

    def __init__(self, usage: str, summary: Message, tr: Translate) -> None:
        super().__init__(
            prog="tutor",
            usage=usage,
            description=tr(summary),
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
        )
        self._tr = tr
        self._group: Any = self
        self._mentions: list[tuple[str, list[tuple[str, str]]]] = []

    def part(self, title: Message) -> None:
        """Begin a group: the options that follow stand under `title` in the help."""
        self._group = self.add_argument_group(self._tr(title))

    def word(self, name: str, help: Message) -> None:
        """Add a positional word; a missing one reads as None."""
        self._group.add_argument(name.lower(), metavar=name, nargs="?", help=self._help(help))

    def flag(self, *names: str, help: Message) -> None:
        """Add an option without a value."""
        self._group.add_argument(*names, action="store_true", help=self._help(help))

    def constant(self, name: str, value: str, *, dest: str) -> None:
        """Add an option without a value that sets `dest` to `value`; its opposite is in the help."""
        self._group.add_argument(name, action="store_const", const=value, dest=dest, help=argparse.SUPPRESS)

    def option(self, *names: str, value: str, help: Message | str, **more: Any) -> None:
        """Add an option whose value is called `value` in the help."""
        self._group.add_argument(*names, metavar=value, help=self._help(help), **more)

    def mention(self, title: Message, entries: Iterable[tuple[str, Message]]) -> None:
        """List words in the help that are not options, such as the other commands."""
        self._mentions.append((self._tr(title), [(name, self._help(help)) for name, help in entries]))

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words; raise UsageError."""
        try:
            options, rest = self.parse_known_args(list(self._joined(words)))
        except argparse.ArgumentError as refused:
            raise UsageError(self._in_words(refused)) from None
        if rest:
            raise UsageError(self._unknown(rest))
        for name, value in vars(options).items():
            if value == []:  # argparse takes “--” away, even where it is a value
                raise UsageError(say("{option} cannot be “--”.", option="--" + name.split()[-1].replace("_", "-")))
        return options

    def format_help(self) -> str:
        """Return the help in the learner's language."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [], [], prefix=self._tr(say("usage: ")))
        formatter.add_text(self.description)
        for title, entries in self._mentions:
            formatter.start_section(title)
            formatter.add_arguments([argparse.Action([], name, nargs=0, help=help) for name, help in entries])
            formatter.end_section()
        for group in self._action_groups:
            if group._group_actions:
                formatter.start_section(group.title)
                formatter.add_arguments(group._group_actions)
                formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Raise what argparse still finds wrong."""
        raise UsageError(say("The command cannot be read: {reason}.", reason=message))

    def _help(self, help: Message | str) -> str:
        return (help if isinstance(help, str) else self._tr(help)).replace("%", "%%")

    def _joined(self, words: Sequence[str]) -> Iterator[str]:
        """Join an option and its value, so that a value may begin with a minus sign, as numbers and `-` do."""
        index = 0
        while index < len(words):
            word = _with_hyphens(words[index])
            action = self._option_string_actions.get(word)
            value = words[index + 1] if index + 1 < len(words) else None
            optional = action is not None and action.nargs == "?"
            if action is None or action.nargs == 0 or value is None or self._is_option(value, optional):
                yield word
                index += 1
            else:
                yield f"{word}={value}"
                index += 2

    def _is_option(self, word: str, doubtful: bool) -> bool:
        name = _with_hyphens(word).partition("=")[0]
        return name in self._option_string_actions or (doubtful and name.startswith("--"))

    def _in_words(self, refused: argparse.ArgumentError) -> Message:
        name = (refused.argument_name or "").split("/")[0]
        action = self._option_string_actions.get(name)
        if action is not None and action.nargs == 0:
            return say("The option {option} takes no value.", option=name)
        return say("The option {option} needs a value.", option=name)

    def _unknown(self, rest: Sequence[str]) -> Message:
        word = next((word for word in rest if word.startswith("-")), rest[0])
        if not word.startswith("-"):
            return say("“{word}” is one word too many; quote a text that has spaces.", word=word[:40])
        name = word.partition("=")[0]
        options = [option for option in self._option_string_actions if option.startswith("--")]
        if close := nearest(name, options):
            return say("There is no option {option} here; did you mean {close}?", option=name[:40], close=close)
        known = ", ".join(options)
        return say("There is no option {option} here; there are: {known}.", option=name[:40], known=known)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what `name` was probably meant to be, or ""."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return close[0] if close else ""


def one_of(name: str, value: str | None, allowed: Sequence[str]) -> str | None:
    """Return an option's value when it is allowed or was not given; raise UsageError."""
    if value is None or value in allowed:
        return value
    known = ", ".join(allowed)
    raise UsageError(
        say("{option} cannot be “{value}”; choose one of: {known}.", option=name, value=value[:40], known=known)
    )


def _with_hyphens(word: str) -> str:
    """Return an option with hyphens in its name, whichever way it was written: --embed_size, --embed-size."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value


class _Formatter(argparse.HelpFormatter):
    """Lays out help; Chinese lines break by their width and their own rules."""

    def __init__(self, prog: str, **more: Any) -> None:
        more.setdefault("width", max(50, min(shutil.get_terminal_size().columns, 100)) - 2)
        super().__init__(prog, max_help_position=30, **more)

    def _split_lines(self, text: str, width: int) -> list[str]:
        if text.isascii():
            return super()._split_lines(text, width)
        return _lines(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.split("\n")
        return "\n".join(indent + line for text in paragraphs for line in (_lines(text, width - len(indent)) or [""]))


def _lines(text: str, width: int) -> list[str]:
    if text.isascii():
        import textwrap

        return textwrap.wrap(text, width)
    from tutor.text.wrap import divide_line

    edges = [0, *divide_line(text, width), len(text)]
    return [text[start:end].rstrip() for start, end in pairwise(edges)]
