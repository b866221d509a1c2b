"""Every text a learner can see has a Chinese sentence with the same fields; no Chinese sentence is left over."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from tutor.i18n import catalogue

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted((ROOT / "tutor/i18n/zh").glob("*.toml"))
SOURCES = {
    path: ast.parse(path.read_text("utf-8")) for room in ("engine", "tutor") for path in (ROOT / room).rglob("*.py")
}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of `say` or `Message`, also as a method, with the place where it stands."""
    for path, tree in SOURCES.items():
        if path == ROOT / "engine/contract/message.py":  # say() itself passes its argument on
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in ("say", "Message"):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def sentence(call: ast.Call) -> str | None:
    """Return the literal sentence of a call, or None when it is not one."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def fields(pattern: str) -> set[str]:
    """Return the named fields of a sentence; “{#id}” in a sentence about Markdown is none."""
    return {name for _, name, _, _ in Formatter().parse(pattern) if name is not None and name.isidentifier()}


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_every_message_is_built_from_a_literal_sentence() -> None:
    # A screen's own method say(message) translates a message; the functions themselves take a sentence.
    assert [place for place, call in calls() if isinstance(call.func, ast.Name) and sentence(call) is None] == []


def test_every_sentence_has_a_chinese_one() -> None:
    said = {text: place for place, call in calls() if (text := sentence(call)) is not None}
    assert {text: place for text, place in said.items() if text not in catalogue()} == {}


def test_every_chinese_sentence_has_the_fields_of_its_english_one() -> None:
    assert [english for english, chinese in catalogue().items() if fields(english) != fields(chinese)] == []


def test_every_call_fills_exactly_the_fields_of_its_sentence() -> None:
    wrong = []
    for place, call in calls():
        named = {keyword.arg for keyword in call.keywords}
        text = sentence(call)
        by_name = _name(call.func) == "say" and isinstance(call.func, ast.Name) and None not in named
        if text is not None and by_name and named != fields(text):
            wrong.append(place)
    assert wrong == []


def test_no_catalogue_translates_a_sentence_that_nobody_says() -> None:
    said = {
        node.value
        for tree in SOURCES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [text for text in catalogue() if text not in said] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_no_sentence_stands_in_two_catalogues(path: Path) -> None:
    own = tomllib.loads(path.read_text("utf-8"))
    others = {text for other in CATALOGUES if other != path for text in tomllib.loads(other.read_text("utf-8"))}
    assert sorted(others & set(own)) == []
