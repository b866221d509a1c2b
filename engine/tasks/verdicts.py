"""REVIEW: a sentence of SENT and what the audience did after it, without a label.

    the plot was not dull so we clapped

Whoever can guess the last word has understood the sentence; nobody has to say which sentences are positive.
"""

from __future__ import annotations

from engine.contract.reviews import WORDS
from engine.contract.verdicts import DISPLEASED, LINK, PLEASED, VERDICT_WORDS
from engine.tasks.draws import Draws
from engine.tasks.sentiment import draw_reviews
from engine.tasks.vocabulary import Vocabulary


def verdict_vocabulary(language: str, *special: str) -> Vocabulary:
    """Return the numbers of the words of "zh" or "en", `special` ones (a mask, a beginning) first."""
    return Vocabulary((*special, *WORDS[language].all, *VERDICT_WORDS[language]))


def draw_verdicts(draws: Draws, language: str, count: int) -> list[tuple[str, ...]]:
    """Draw `count` texts whose sentences are all of the training part of SENT."""
    return [
        (*review.words, *LINK[language], draws.choice((PLEASED if review.positive else DISPLEASED)[language]))
        for review in draw_reviews(draws, language, count, test=False)
    ]
