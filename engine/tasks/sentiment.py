"""SENT: short reviews whose verdict cannot be read off single words (the words: engine.contract.reviews).

    plain      30 %   the plot was dull
    negated    30 %   the plot was not dull                          the opposite of its adjective
    contrast   40 %   the cast was flat but the music was moving     the clause that "but" leads to counts
                      the music was moving although the cast was flat         and not the one after "although"

A sum over words gets none of the last two kinds right by more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.contract.reviews import WORDS, ReviewWords
from engine.tasks.draws import Draws
from engine.tasks.split import held_out
from engine.tasks.vocabulary import Vocabulary

KINDS = ("plain", "negated", "contrast")


@dataclass(frozen=True)
class Review:
    """A sentence by its tokens, whether it is positive, and its kind."""

    words: tuple[str, ...]
    positive: bool
    kind: str


def vocabulary(language: str) -> Vocabulary:
    """Return the numbers of the words of "zh" or "en"."""
    return Vocabulary(WORDS[language].all)


def draw_review(draws: Draws, language: str) -> Review:
    """Draw one sentence."""
    words = WORDS[language]
    positive = draws.chance(0.5)
    kind = draws.uniform()
    if kind < 0.3:
        return Review(_clause(draws, words, positive), positive, "plain")
    if kind < 0.6:
        return Review(_clause(draws, words, positive, negated=True), positive, "negated")
    main, other = _clause(draws, words, positive), _clause(draws, words, not positive)
    if kind < 0.8:
        return Review((*other, words.but, *main), positive, "contrast")
    return Review((*main, words.although, *other), positive, "contrast")


def draw_reviews(draws: Draws, language: str, count: int, *, test: bool) -> list[Review]:
    """Draw `count` sentences of the test part or of the training part, which have none in common."""
    reviews: list[Review] = []
    while len(reviews) < count:
        review = draw_review(draws, language)
        if held_out(review.words) == test:
            reviews.append(review)
    return reviews


def _clause(draws: Draws, words: ReviewWords, positive: bool, *, negated: bool = False) -> tuple[str, ...]:
    adverb = (draws.choice(words.adverbs),) if not negated and draws.chance(0.5) else ()
    said = words.good if positive != negated else words.bad
    before = (words.negation,) if negated else adverb
    return (*draws.choice(words.subjects), *words.verb, *before, draws.choice(said))
