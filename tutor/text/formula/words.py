"""Runs of letters and digits that are one thing: numbers, names of operators, words of an alphabet."""

from __future__ import annotations

from tutor.text.formula import symbols
from tutor.text.formula.tree import Node, Space, Symbol, row_items


def is_number(word: str) -> bool:
    """Whether all of a word is digits and decimal points."""
    return word != "" and all(char in "0123456789." for char in word)


def operator_name(node: Node, *, limits: bool) -> Node:
    """The name of an operator: letters, where a minus is a hyphen."""
    items = row_items(node)
    words = [" " if isinstance(item, Space) else item.text for item in items if isinstance(item, (Symbol, Space))]
    return Symbol("".join(words).replace("−", "-"), "op", limits) if len(words) == len(items) else node


def in_alphabet(name: str, node: Node) -> Node:
    """Letters of an alphabet; several letters become one word."""
    alphabet = symbols.ALPHABETS.get(name, {})
    items = row_items(node)
    words = [item.text for item in items if isinstance(item, Symbol) and item.text.isalnum()]
    if not words or len(words) < len(items):
        return node
    return Symbol("".join(alphabet.get(char, char) for word in words for char in word))
