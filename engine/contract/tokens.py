"""How the labs read a sentence: tokens and their axis labels (labs.md §0)."""

from __future__ import annotations

import re

from engine.contract.kinds import shown
from engine.contract.message import Message, say

MOST_TOKENS = 24

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

_EXTENSION = r"[\u0300-\u036f\ufe00-\ufe0f\u20e3\U0001f3fb-\U0001f3ff]"
_PIECE = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag is two regional indicators
    f"|.{_EXTENSION}*(?:\u200d.{_EXTENSION}*)+"  # emoji joined by zero-width joiners
    f"|(?:[^\\W\u2e80-\U0003ffff]{_EXTENSION}*(?:['’](?=\\w))?)+"  # a run of letters and digits of an alphabet
    f"|.{_EXTENSION}*",  # one character: Chinese, punctuation, emoji
    re.DOTALL,
)


def tokenize(text: str) -> list[str]:
    """Split at white space when there is any, else into Chinese characters, alphabetic words and emoji."""
    words = text.split()
    return words if len(words) != 1 else _PIECE.findall(words[0])


def axis_labels(tokens: list[str]) -> list[str]:
    """Return one distinct label per token: a repeated token gets a subscript ("the", "the₂")."""
    seen: dict[str, int] = {}
    taken = set(tokens)
    labels = []
    for token in tokens:
        number = seen.get(token, 0) + 1
        label = token if number == 1 else token + str(number).translate(_SUBSCRIPTS)
        while number > 1 and label in taken:  # someone typed "the₂" as a word
            number += 1
            label = token + str(number).translate(_SUBSCRIPTS)
        seen[token] = number
        taken.add(label)
        labels.append(label)
    return labels


def refuse_tokens(label: Message, text: str, *, least: int = 2, most: int = MOST_TOKENS) -> Message | None:
    """Return why `text` has too few or too many tokens for a lab that compares them, or None when it is fine."""
    tokens = tokenize(text)
    if not tokens:
        return say("{label} is empty; type at least {least} words or Chinese characters.", label=label, least=least)
    if len(tokens) < least:
        return say(
            "{label} has {count} token (“{token}”), but at least {least} are needed to compare them.",
            label=label,
            count=len(tokens),
            token=shown(tokens[0]),
            least=least,
        )
    if len(tokens) > most:
        return say(
            "{label} has {count:,} tokens, but at most {most} are taken; shorten it.",
            label=label,
            count=len(tokens),
            most=most,
        )
    return None
