"""How a sentence becomes tokens and axis labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.contract.tokens import axis_labels, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat sat", ["The", "cat", "sat"]),
        ("我 喜欢 在 咖啡馆", ["我", "喜欢", "在", "咖啡馆"]),
        ("我喜欢书", ["我", "喜", "欢", "书"]),
        ("我用GPT4写诗", ["我", "用", "GPT4", "写", "诗"]),
        ("don't", ["don't"]),
        ("猫！狗？", ["猫", "！", "狗", "？"]),
        ("👍🏽👨‍👩‍👧🇨🇳❤️", ["👍🏽", "👨‍👩‍👧", "🇨🇳", "❤️"]),
        ("cafe\u0301吧", ["cafe\u0301", "吧"]),
        ("", []),
        ("   ", []),
        ("привет мир", ["привет", "мир"]),
    ],
)
def test_a_sentence_is_split_at_spaces_or_into_characters(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_repeated_words_get_distinct_labels() -> None:
    assert axis_labels(["the", "cat", "the", "the"]) == ["the", "cat", "the₂", "the₃"]
    assert axis_labels(["a"] * 12)[-1] == "a₁₂"


@given(st.lists(st.sampled_from(["a", "a₂", "b"]), max_size=8))
def test_labels_are_always_distinct(tokens: list[str]) -> None:
    labels = axis_labels(tokens)
    assert len(set(labels)) == len(tokens)


@given(st.text(max_size=40))
def test_no_visible_character_is_lost(text: str) -> None:
    assert "".join(tokenize(text)) == "".join(text.split())
