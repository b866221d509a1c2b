"""The words of the review labs, in both languages, and how a review that a learner types is read.

en   the film was [really | not] dull [but | although the music was …]
zh   剧情 [真的 | 不] 无聊 [但是 | 尽管 音乐 …]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.contract.kinds import shown
from engine.contract.message import Message, say
from engine.contract.tokens import MOST_TOKENS

_PUNCTUATION = ".,;!?。，；！？"


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
class TypedReview:
    """A review a learner typed: its words, and the language ("zh" or "en") they belong to."""

    words: tuple[str, ...]
    language: str


def read_review(
    label: Message, text: str, *, further: Mapping[str, Sequence[str]] | None = None, least: int = 2
) -> TypedReview | Message:
    """Return the words of a review, Chinese ones with or without spaces between them, or why it is refused.

    `further` are words, by language, that a model knows besides those of the reviews.
    """
    language = "en" if text.isascii() else "zh"
    known = (*WORDS[language].all, *(further or {}).get(language, ()))
    if language == "en":
        words = [stripped for word in text.lower().split() if (stripped := word.strip(_PUNCTUATION))]
    else:
        longest_first = "|".join(sorted(known, key=len, reverse=True))
        found = re.findall(rf"{longest_first}|[^\W\d_]+?(?={longest_first}|\W|$)|\S", text)
        words = [word for word in found if word not in _PUNCTUATION]
    for word in words:
        if word not in known:
            return say(
                "{label} has the word “{word}”, which the trained model has never seen; it knows: {known}.",
                label=label,
                word=shown(word),
                known=" ".join(known),
            )
    if not least <= len(words) <= MOST_TOKENS:
        return say(
            "{label} takes {least} to {most} words; this has {count}.",
            label=label,
            count=len(words),
            least=least,
            most=MOST_TOKENS,
        )
    return TypedReview(tuple(words), language)
