"""What every command is given: the learner's language and progress, and the options all commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.contract.kinds import shown
from engine.contract.message import Message, say
from engine.contract.sizes import read_size
from tutor.cli.arguments import Parser, one_of
from tutor.cli.errors import UsageError
from tutor.cli.language import choose_language, named_language
from tutor.i18n import LANGUAGES, catalogue, translate
from tutor.progress.place import data_directory
from tutor.start_cache import StartCache

if TYPE_CHECKING:
    from argparse import Namespace

    from tutor.course.catalog import Catalog
    from tutor.progress.store import Store


class Shell:
    """One call of the command line."""

    def __init__(self, words: Sequence[str]) -> None:
        self.language = choose_language(named_language(words), os.environ, self._saved_language)
        if self.language == "zh":
            catalogue(self.cache)

    def tr(self, message: Message) -> str:
        """Return `message` in the learner's language."""
        return translate(message, self.language)

    @cached_property
    def store(self) -> Store:
        """The learner's progress, read on first use."""
        from tutor.progress.store import open_store

        return open_store()

    @cached_property
    def cache(self) -> StartCache:
        """What an earlier start has worked out."""
        folder = data_directory()
        return StartCache(folder / "start.cache" if folder else None)

    def _saved_language(self) -> Any:
        return self.store.setting("language")

    def catalog(self, folder: str | None) -> Catalog:
        """Return the lessons in `folder`, or the tutor's own; raise UsageError when there is no course."""
        from tutor.course.catalog import Catalog
        from tutor.course.model import FILE

        if folder is None:
            return Catalog(cache=self.cache)
        root = Path(folder)
        if not (root / FILE).is_file():
            raise UsageError(
                say("There are no lessons in {folder}: it has no {file}.", folder=folder, file=FILE), "lessons"
            )
        return Catalog(root, self.cache)


def language_option(parser: Parser) -> None:
    """Add what every command takes."""
    parser.option("--lang", value="zh|en", help=say("language: Chinese or English"))
    parser.flag("-h", "--help", help=say("show this help"))


def lessons_option(parser: Parser) -> None:
    """Add the choice of another lesson pack."""
    parser.option("--lessons", value="DIR", help=say("a folder with other lessons"))


def engine_options(parser: Parser) -> None:
    """Add where the labs are computed."""
    parser.option("--device", value="D", default="auto", help=say("where labs compute: auto, cpu, cuda, cuda:N or mps"))
    parser.option(
        "--engine", value="CMD", help=say("the command that starts the engine, for example on another machine")
    )
    parser.option("--gpu-memory", value="SIZE", help=say("how much of a GPU's memory to take at most, for example 4G"))


def own_engine_option(parser: Parser) -> None:
    """Add only which engine: for commands that compute on its CPU whatever else it has."""
    parser.option(
        "--engine", value="CMD", help=say("the command that starts the engine, for example on another machine")
    )
    parser.set_defaults(device="cpu", gpu_memory=None)


def check_shared(options: Namespace) -> None:
    """Refuse values of shared options that cannot be meant; raise UsageError."""
    one_of("--lang", options.lang, LANGUAGES)
    for name in ("device", "engine", "gpu_memory", "lessons"):
        value = getattr(options, name, None)
        if value is not None and not value.strip():
            raise UsageError(say("The option {option} needs a value.", option="--" + name.replace("_", "-")), name)
    if size := getattr(options, "gpu_memory", None):
        try:
            read_size(size)
        except ValueError:
            sentence = say("--gpu-memory takes an amount like 4GiB or 512M, not “{value}”.", value=shown(size))
            raise UsageError(sentence, "gpu_memory") from None
