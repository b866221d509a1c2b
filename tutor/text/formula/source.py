"""TeX text → tokens, by way of pylatexenc's walker."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from engine.contract.message import say
from tutor.text.formula import symbols
from tutor.text.formula.errors import FormulaError


@dataclass(frozen=True)
class Token:
    """One thing of the source: a character, a macro with its arguments, a group or an environment.

    `position` counts characters from 1.
    """

    kind: Literal["char", "macro", "group", "environment", "end"]
    value: str
    position: int
    nodes: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()


@lru_cache(maxsize=1)
def _context() -> Any:
    """Which macros take arguments; all others take none."""
    from pylatexenc.macrospec import EnvironmentSpec, LatexContextDb, MacroSpec, SpecialsSpec

    context = LatexContextDb()
    context.add_context_category(
        "formula",
        macros=[MacroSpec(name, spec) for name, spec in symbols.ARGUMENTS.items()],
        environments=[EnvironmentSpec("array", "{")],
        specials=[SpecialsSpec("&")],
    )
    context.set_unknown_macro_spec(MacroSpec("", ""))
    context.set_unknown_environment_spec(EnvironmentSpec("", ""))
    return context


def read(tex: str) -> tuple[Any, ...]:
    """Parse TeX into pylatexenc's nodes."""
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError

    for index, char in enumerate(tex):
        category = unicodedata.category(char)
        if (category[0] == "C" or category in ("Zl", "Zp")) and char not in "\t\n\r":
            raise _cannot_be_shown(char, index + 1)
    try:
        nodes, position, length = LatexWalker(tex, latex_context=_context(), tolerant_parsing=False).get_latex_nodes()
    except LatexWalkerParseError as error:
        raise FormulaError(
            say("braces or arguments do not match at character {position}", position=(error.pos or 0) + 1)
        ) from error
    if position + length < len(tex):
        raise FormulaError(
            say("braces or arguments do not match at character {position}", position=position + length + 1)
        )
    return tuple(nodes)


def tokens(nodes: tuple[Any, ...], *, prose: bool = False) -> list[Token]:
    """Flatten nodes to tokens; spaces are kept only in `prose`, and `$…$` is legal only there."""
    found: list[Token] = []
    for node in nodes:
        name, position = type(node).__name__, node.pos + 1
        if name == "LatexCharsNode":
            _characters(node.chars, position, prose, found)
        elif name == "LatexSpecialsNode":
            found.append(Token("char", node.specials_chars, position))
        elif name == "LatexGroupNode":
            found.append(Token("group", "", position, tuple(node.nodelist)))
        elif name == "LatexMathNode" and prose:
            found.append(Token("group", "$", position, tuple(node.nodelist)))
        elif name == "LatexMathNode":
            raise FormulaError(say("a dollar sign inside a formula at character {position}", position=position))
        elif name == "LatexCommentNode":
            raise FormulaError(say("a bare % hides the rest at character {position}: write \\%", position=position))
        elif name == "LatexEnvironmentNode":
            found.append(Token("environment", node.environmentname, position, tuple(node.nodelist), _arguments(node)))
        else:
            found.append(Token("macro", node.macroname, position, arguments=_arguments(node)))
    return found


def inside(node: Any) -> tuple[Any, ...]:
    """The nodes of a group; another node is a group of one."""
    return tuple(node.nodelist) if type(node).__name__ == "LatexGroupNode" else (node,)


def _arguments(node: Any) -> tuple[Any, ...]:
    given = node.nodeargd
    return tuple(given.argnlist) if given is not None and given.argnlist is not None else ()


def _characters(chars: str, start: int, prose: bool, found: list[Token]) -> None:
    for offset, char in enumerate(chars):
        if char.isspace():
            if prose and not (found and found[-1].value == " "):
                found.append(Token("char", " ", start + offset))
        elif (is_mark := unicodedata.category(char)[0] == "M") and found and found[-1].kind == "char":
            before = found.pop()
            found.append(Token("char", before.value + char, before.position))
        elif is_mark:
            raise _cannot_be_shown(char, start + offset)
        else:
            found.append(Token("char", char, start + offset))


def _cannot_be_shown(char: str, position: int) -> FormulaError:
    code = f"U+{ord(char):04X}"
    return FormulaError(
        say("the character {code} at position {position} cannot be shown", code=code, position=position)
    )
