"""Reviews as learners type them: with and without spaces, with capitals and full stops, with words nobody taught."""

from __future__ import annotations

import pytest

from engine.contract.message import Message, say
from engine.contract.reviews import WORDS, TypedReview, read_review

REVIEW = say("review")


@pytest.mark.parametrize(
    ("text", "words", "language"),
    [
        ("the film was not dull", ("the", "film", "was", "not", "dull"), "en"),
        ("The film was dull, but warm.", ("the", "film", "was", "dull", "but", "warm"), "en"),
        ("演员 平淡 但是 音乐 动人", ("演员", "平淡", "但是", "音乐", "动人"), "zh"),
        ("演员平淡，但是音乐真的动人。", ("演员", "平淡", "但是", "音乐", "真的", "动人"), "zh"),
        ("剧情不无聊", ("剧情", "不", "无聊"), "zh"),
    ],
)
def test_a_review_is_read_word_by_word_in_its_own_language(text: str, words: tuple[str, ...], language: str) -> None:
    assert read_review(REVIEW, text) == TypedReview(words, language)


@pytest.mark.parametrize(
    ("text", "word"),
    [("the dog was dull", "dog"), ("剧情很无聊", "很"), ("剧情 good", "good"), ("😀 剧情", "😀"), ("剧情 3", "3")],
)
def test_the_first_unknown_word_is_named_with_those_that_are_known(text: str, word: str) -> None:
    refusal = read_review(REVIEW, text)
    assert isinstance(refusal, Message)
    language = "en" if text.isascii() else "zh"
    assert str(refusal) == (
        f"review has the word “{word}”, which the trained model has never seen; "
        f"it knows: {' '.join(WORDS[language].all)}."
    )


@pytest.mark.parametrize(("text", "count"), [("", 0), ("dull.", 1), ("剧情" * 25, 25)])
def test_too_few_and_too_many_words_are_refused(text: str, count: int) -> None:
    assert str(read_review(REVIEW, text)) == f"review takes 2 to 24 words; this has {count}."
