"""SENT: short reviews whose verdict cannot be read off single words.

    plain      30 %   the plot was dull
    negated    30 %   the plot was not dull                          the opposite of its adjective
    contrast   40 %   the cast was flat but the music was moving     the clause that "but" leads to counts
                      the music was moving although the cast was flat         and not the one after "although"

A sum over words gets none of the last two kinds right by more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.tasks.draws import Draws
from engine.tasks.split import held_out
from engine.tasks.vocabulary import Vocabulary

KINDS = ("plain", "negated", "contrast")


@dataclass(frozen=True)
class ReviewWords:
    """The words of one language; each entry of `subjects` and `verb` is a list of tokens."""

    subjects: tuple[tuple[str, ...], ...]
    verb: tuple[str, ...]
    negation: str
    adverbs: tuple[str, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    but: str
    although: str

    @property
    def all(self) -> tuple[str, ...]:
        """Every word once, in a fixed order."""
        subjects = (word for subject in self.subjects for word in subject)
        ordered = (*subjects, *self.verb, self.negation, *self.adverbs, *self.good, *self.bad, self.but, self.although)
        return tuple(dict.fromkeys(ordered))


WORDS = {
    "en": ReviewWords(
        subjects=tuple(
            ("the", noun) for noun in ("film", "plot", "acting", "music", "ending", "script", "pacing", "cast")
        ),
        verb=("was",),
        negation="not",
        adverbs=("really", "quite", "honestly", "just"),
        good=("great", "lovely", "brilliant", "moving", "fresh", "clever", "warm", "funny"),
        bad=("dull", "awful", "boring", "messy", "weak", "flat", "cold", "silly"),
        but="but",
        although="although",
    ),
    "zh": ReviewWords(
        subjects=tuple((noun,) for noun in ("剧情", "表演", "音乐", "结局", "画面", "台词", "节奏", "演员")),
        verb=(),
        negation="不",
        adverbs=("真的", "确实", "非常", "实在"),
        good=("精彩", "动人", "新鲜", "出色", "有趣", "细腻", "温暖", "巧妙"),
        bad=("无聊", "糟糕", "混乱", "平淡", "俗套", "生硬", "冷淡", "幼稚"),
        but="但是",
        although="尽管",
    ),
}


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
