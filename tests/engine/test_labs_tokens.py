"""The lab `tokens`: the bag forgets the order, the matrix does not, and ids are the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.contract.parameters import InvalidParameters
from engine.contract.report import Note
from engine.labs import run
from engine.labs.tokens import build_vocabulary, read_sentence
from tests.engine.reports import failed, heatmap, numbers, table

SENTENCE = "the cat sat on the mat"


def test_the_two_sentences_about_a_dog_and_a_man_have_the_same_sum_and_other_rows() -> None:
    vocabulary = build_vocabulary("狗咬人")
    embeddings = torch.zeros(len(vocabulary), 2, dtype=torch.float64)
    for token, row in (("狗", [1.0, 0.0]), ("咬", [0.0, 1.0]), ("人", [1.0, 1.0])):
        embeddings[vocabulary[token]] = torch.tensor(row)
    bites, bitten = (read_sentence(text, vocabulary, embeddings) for text in ("狗咬人", "人咬狗"))
    assert bites.matrix.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert bitten.matrix.tolist() == [[1, 1], [0, 1], [1, 0]]
    assert bites.matrix.sum(0).tolist() == bitten.matrix.sum(0).tolist() == [2, 2]
    assert torch.equal(bites.bag, bitten.bag)


def test_upper_and_lower_case_are_different_types() -> None:
    assert run("tokens", text="The cat sat on the mat").values["types"] == 6
    assert run("tokens", text=SENTENCE).values["types"] == 5
    assert run("tokens", text=SENTENCE).values["vocabulary_size"] == 7


def test_ids_follow_the_specials_in_sorted_order() -> None:
    assert build_vocabulary(SENTENCE.split()) == {
        "<pad>": 0, "<unk>": 1, "cat": 2, "mat": 3, "on": 4, "sat": 5, "the": 6,
    }  # fmt: skip
    assert numbers(run("tokens", text=SENTENCE), "ids") == [6, 2, 5, 4, 6, 3]


def test_a_special_token_in_the_text_keeps_its_id() -> None:
    assert build_vocabulary(["b", "<unk>", "a"]) == {"<pad>": 0, "<unk>": 1, "a": 2, "b": 3}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_reversed_sentence_has_the_same_bag_and_its_rows_in_reverse_order(language: str) -> None:
    report = run("tokens", order="reversed", language=language)
    assert report.values["bag_changes"] is False
    assert report.values["matrix_changes"] is True
    assert report.values["rows_reversed"] is True
    assert [invariant.holds for invariant in report.invariants] == [True] * 7
    assert heatmap(report, "matrix").values.rows() == heatmap(report, "written").values.rows()[::-1]
    counts = table(report, "bag").rows
    assert [row[2] for row in counts] == [row[3] for row in counts]


def test_a_palindrome_reads_the_same_and_says_so() -> None:
    report = run("tokens", text="上 海 自来水 来自 海 上".replace("自来水 来自", "x"), order="reversed")
    assert report.values["matrix_changes"] is False
    assert isinstance(report.panel("same"), Note)
    skipped = [invariant for invariant in report.invariants if invariant.holds is None]
    assert [str(invariant.detail) for invariant in skipped] == ["not checked: the order of the tokens is the same"]
    assert failed(report) == []


def test_the_token_table_spells_out_id_one_hot_and_vector() -> None:
    report = run("tokens", text="b a", width=2)
    first, second = table(report, "tokens").rows
    vectors = heatmap(report, "matrix").values.rows()
    assert first == ("b", 3, "0001", " ".join(f"{x:.3f}" for x in vectors[0]))
    assert second == ("a", 2, "0010", " ".join(f"{x:.3f}" for x in vectors[1]))


def test_a_word_has_the_same_vector_in_every_sentence() -> None:
    one, other = run("tokens", text="a b"), run("tokens", text="c b a")
    assert heatmap(one, "matrix").values.rows()[0] == heatmap(other, "matrix").values.rows()[2]


@given(
    words=st.lists(st.sampled_from(["a", "b", "猫", "❤️", "<pad>", "the"]), min_size=2, max_size=24),
    order=st.sampled_from(["original", "reversed", "shuffled"]),
    width=st.integers(2, 8),
    seed=st.integers(0, 9999),
)
def test_every_invariant_holds_for_any_words(words: list[str], order: str, width: int, seed: int) -> None:
    assert failed(run("tokens", text=" ".join(words), order=order, width=width, seed=seed)) == []


def test_ids_do_not_depend_on_the_hash_seed_of_the_process() -> None:
    script = f"from engine.labs.tokens import build_vocabulary; print(build_vocabulary({SENTENCE.split()!r}))"
    printed = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert printed == [f"{build_vocabulary(SENTENCE.split())}\n"] * 2


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        ({"text": "dog"}, "text", "text has 1 token (“dog”), but at least 2 are needed to compare them."),
        ({"text": ""}, "text", "text is empty; type at least 2 words or Chinese characters."),
        ({"width": 9}, "width", "embedding width d is 9, but it must lie between 2 and 8."),
        (
            {"order": "sorted"},
            "order",
            "order of the tokens cannot be “sorted”; choose one of: original, reversed, shuffled.",
        ),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("tokens", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, sentence)]
