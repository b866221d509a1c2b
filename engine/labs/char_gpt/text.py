"""The texts a character model learns from, as numbers, and which of the words it writes are words of that text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.char_gpt import FULL_STOP, CharGptParams, alphabet, corpus_language, lesson_text
from engine.contract.reviews import WORDS
from engine.labs.base import Context
from engine.tasks.draws import Draws
from engine.tasks.sentiment import draw_reviews

REVIEWS = 1200
HELD_BACK = 0.1  # of the text, for validation: its end

_LATIN_WORD = re.compile("[A-Za-z]{2,}")


@dataclass(frozen=True)
class Corpus:
    """A text, its characters in their order, its words, and the pattern that cuts what is written into words."""

    text: str
    letters: tuple[str, ...]
    words: frozenset[str]
    word: re.Pattern[str]

    def encode(self, text: str) -> Tensor:
        """Return the numbers of the characters of `text`, (n,)."""
        numbers = {letter: number for number, letter in enumerate(self.letters)}
        return torch.tensor([numbers[letter] for letter in text])

    def decode(self, numbers: Sequence[int]) -> str:
        """Return the text of these numbers."""
        return "".join(self.letters[number] for number in numbers)

    def parts(self, least: int) -> tuple[Tensor, Tensor]:
        """Return the text to learn from and the tenth at its end (at least `least` characters) to be tested on."""
        numbers = self.encode(self.text)
        cut = len(numbers) - max(int(len(numbers) * HELD_BACK), least)
        return numbers[:cut], numbers[cut:]

    def real_words(self, written: str) -> float | None:
        """Return the share of the written words that the text has; None when none was written."""
        words = self.word.findall(written)
        return sum(word in self.words for word in words) / len(words) if words else None


def corpus(params: CharGptParams, context: Context) -> Corpus:
    """Return the chosen text.

    Chinese reviews are cut into their words, the longest first; a character that belongs to none is a word of its own.
    """
    letters = alphabet(params)
    language = corpus_language(params)
    if params.corpus in ("lessons", "paste"):
        text = lesson_text(language) if params.corpus == "lessons" else params.paste
        return Corpus(text, letters, frozenset(_LATIN_WORD.findall(text)), _LATIN_WORD)
    reviews = draw_reviews(Draws(context.generator("reviews")), language, REVIEWS, test=False)
    between = " " if language == "en" else ""
    text = "".join(between.join(review.words) + FULL_STOP[language] + "\n" for review in reviews)
    known = WORDS[language].all
    longest_first = "|".join(sorted(known, key=len, reverse=True))
    pattern = r"[^\s.]+" if language == "en" else rf"{longest_first}|[^\s。]"
    return Corpus(text, letters, frozenset(known), re.compile(pattern))
