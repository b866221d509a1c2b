"""What L01 says by hand is so: its examples, its ids, its merges and its quiz."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
import torch

from engine.labs.tokens import build_vocabulary
from tests.unit.lesson_texts import matrices, prose
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz

SLUG = "sequences"
WORDS = {"en": ("dog", "bites", "man", "sleeps"), "zh": ("狗", "咬", "人", "睡")}


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson(SLUG, language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {f"Q01-{number}" for number in range(1, 6)}
        assert {lab.name for lab in found.labs} == {"tokens"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_headlines_have_the_matrices_of_the_hand_example_and_the_same_sum(language: str) -> None:
    first, second, third, _ = WORDS[language]
    rows = {first: [1.0, 0.0], second: [0.0, 1.0], third: [1.0, 1.0]}
    shown = matrices(prose(SLUG, "by-hand", language))
    assert torch.equal(shown[0], torch.tensor([rows[word] for word in (first, second, third)], dtype=torch.float64))
    assert torch.equal(shown[1], torch.tensor([rows[word] for word in (third, second, first)], dtype=torch.float64))
    assert [matrix.sum(0).tolist() for matrix in shown] == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_ids_of_the_table_and_of_the_batch_are_those_of_the_lab(language: str) -> None:
    first, second, third, fourth = WORDS[language]
    vocabulary = build_vocabulary([first, second, third, first, fourth])
    table = re.findall(r"^\| (\d) \| `?([^`|]+?)`? \|", prose(SLUG, "ids", language), re.MULTILINE)
    assert {entry: int(number) for number, entry in table} == vocabulary
    batch = [[first, second, third], [first, fourth]]
    ids = re.findall(r"(\d \d \d) +((?:True|False) +(?:True|False) +(?:True|False))", prose(SLUG, "batch", language))
    assert [row.split() for row, _ in ids] == [
        [str(vocabulary[word]) for word in sentence] + ["0"] * (3 - len(sentence)) for sentence in batch
    ]
    assert [row.split() for _, row in ids] == [["True", "True", "True"], ["True", "True", "False"]]


def test_the_order_of_a_set_changes_with_the_process_and_sorting_does_not() -> None:
    program = "words = set('dog bites man sleeps often here'.split()); print(*words); print(*sorted(words))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for seed in (1, 2, 3)
    ]
    assert len({unsorted for unsorted, _ in runs}) > 1
    assert len({in_order for _, in_order in runs}) == 1


def merged(word: list[str], pair: tuple[str, str]) -> list[str]:
    joined: list[str] = []
    for token in word:
        if joined and (joined[-1], token) == pair:
            joined[-1] += token
        else:
            joined.append(token)
    return joined


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_merges_are_those_of_byte_pair_encoding(language: str) -> None:
    words = [list(word) for word in ("low", "lower", "lowest")]
    lines = [line for line in prose(SLUG, "subwords", language).splitlines() if re.search(r"(l o w|lo|low) ", line)]
    merges = []
    for _ in range(3):
        counts = Counter(pair for word in words for pair in pairwise(word))
        pair, count = counts.most_common(1)[0]  # of equals the one met first
        words = [merged(word, pair) for word in words]
        merges.append(pair)
        (line,) = [line for line in lines if f"{pair[0]},{pair[1]} " in line]
        cells = re.split(r"  +", line.split(",")[1].removeprefix(pair[1]).strip())
        assert cells == [*(" ".join(word) for word in words), str(count)]
    slow = list("slow")
    for pair in merges:
        slow = merged(slow, pair)
    assert slow == ["s", "low"]


def test_the_look_up_is_the_product_with_one_hots() -> None:
    (snippet,) = code(SLUG, "en")
    assert code(SLUG, "zh") == [snippet]
    exec(snippet, {"torch": torch})


def test_two_sentences_can_share_all_their_pairs() -> None:
    one, other = list("abaca"), list("acaba")
    assert one != other
    assert Counter(pairwise(one)) == Counter(pairwise(other))


def test_the_numbers_of_the_quiz_are_those_of_torch() -> None:
    assert answer_of("Q01-3", SLUG) == len(build_vocabulary(["the", "cat", "sat", "on", "the", "mat"]))
    ids = torch.zeros(4, 7, dtype=torch.long)
    shapes = (*ids.shape, *torch.nn.Embedding(10, 16)(ids).shape)
    assert answer_of("Q01-2", SLUG) == tuple(str(size) for size in shapes)
    vocabulary = build_vocabulary(["I", "said", "I", "slept"])
    assert answer_of("shapes", SLUG) == tuple(str(size) for size in (4, 3, len(vocabulary), 3))
