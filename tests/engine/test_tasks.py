"""The tasks: what they ask, what they keep for the test, and that they draw alike in every process."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections import Counter

import pytest
import torch

from engine.contract.message import Message, say
from engine.contract.reviews import WORDS
from engine.contract.toy_translation import CHINESE, ENGLISH, OBJECTS, PLACES, SUBJECTS, TIMES, VERBS, read_clause
from engine.contract.verdicts import DISPLEASED, PLEASED
from engine.tasks.adding import BASELINE, adding
from engine.tasks.dates import FORMATS, characters, draw_dates, ordinal, write
from engine.tasks.draws import Draws
from engine.tasks.previous import previous
from engine.tasks.recall import SYMBOLS, TOKENS, recall
from engine.tasks.reverse import reverse
from engine.tasks.sentiment import KINDS, draw_reviews, vocabulary
from engine.tasks.split import held_out
from engine.tasks.translation import LONGEST_SOURCE, LONGEST_TARGET, SOURCE, TARGET, draw_clauses
from engine.tasks.verdicts import draw_verdicts, verdict_vocabulary
from engine.tasks.vocabulary import Vocabulary

SCRIPT = """
import json, torch
from engine.tasks import adding, dates, draws, previous, recall, reverse, sentiment, translation, verdicts
def generator(): return torch.Generator().manual_seed(5)
def drawn(): return draws.Draws(generator())
print(json.dumps([
    *(part.tolist() for part in recall.recall(generator(), 3, 6)),
    *(part.tolist() for part in adding.adding(generator(), 2, 5)),
    *(part.tolist() for part in reverse.reverse(generator(), 2, 5)),
    *(part.tolist() for part in previous.previous(generator(), 2, 5)),
    [clause.english for clause in translation.draw_clauses(drawn(), 5, test=True)],
    [review.words for review in sentiment.draw_reviews(drawn(), "zh", 5, test=False)],
    verdicts.draw_verdicts(drawn(), "en", 5),
    [date.text for date in dates.draw_dates(drawn(), 5)],
    sentiment.vocabulary("en").words, translation.TARGET.words, dates.characters(),
]))
"""


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def draws(seed: int = 0) -> Draws:
    return Draws(generator(seed))


def test_every_task_draws_alike_whatever_the_hash_seed() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0])) == 15


def test_draws_are_uniform_and_belong_to_their_generator() -> None:
    one, same, other = draws(1), draws(1), draws(2)
    numbers = [one.below(6) for _ in range(3000)]
    assert numbers == [same.below(6) for _ in range(3000)]
    assert numbers != [other.below(6) for _ in range(3000)]
    assert set(Counter(numbers)) == set(range(6))
    assert all(400 < count < 600 for count in Counter(numbers).values())


def test_recall_asks_for_its_first_symbol_and_distracts_with_others() -> None:
    tokens, targets = recall(generator(), 400, 12)
    assert tokens.shape == (400, 13)
    assert torch.equal(tokens[:, 0], targets)
    assert set(targets.tolist()) == set(range(SYMBOLS))
    assert set(tokens[:, 1:].flatten().tolist()) == set(range(SYMBOLS, TOKENS))


def test_adding_marks_one_value_in_each_half_and_its_baseline_is_a_sixth() -> None:
    inputs, sums = adding(generator(), 20_000, 7)
    values, markers = inputs.unbind(-1)
    assert set(markers[:, :3].sum(1).tolist()) == set(markers[:, 3:].sum(1).tolist()) == {1.0}
    assert torch.equal((values * markers).sum(1), sums)
    assert sums.min() >= 0
    assert sums.max() < 2
    assert (sums - 1).square().mean().item() == pytest.approx(BASELINE, abs=0.01)
    with pytest.raises(ValueError, match="the length is 1; two markers need at least 2 steps"):
        adding(generator(), 1, 1)


def test_reverse_and_previous_say_what_their_names_say() -> None:
    digits, backwards = reverse(generator(), 4, 6)
    assert backwards.tolist() == [row[::-1] for row in digits.tolist()]
    symbols, targets = previous(generator(), 4, 6)
    assert targets.tolist() == [[row[0], *row[:-1]] for row in symbols.tolist()]


def test_a_clause_and_its_translation_are_aligned_word_by_word() -> None:
    clause = read_clause(say("sentence"), "I took some lamps in the station early")
    assert not isinstance(clause, Message)
    assert clause.english == ["i", "took", "some", "lamps", "in", "the", "station", "early"]
    assert clause.chinese == ["我", "一早", "在", "车站", "拿", "了", "一些", "灯"]
    assert clause.alignment == [0, 7, 4, 6, 1, -1, 2, 3]


@pytest.mark.parametrize(
    ("sentence", "refusal"),
    [
        ("we", "sentence ends too early; after its 1 words goes one of: read, bought, drew, saw, took, lost."),
        ("we ate books", "sentence has “ate” as word 2; there goes one of: read, bought, drew, saw, took, lost."),
        ("we read books in park", "sentence has “park” as word 5; there goes one of: the."),
        ("我 read books", "sentence has “我” as word 1; there goes one of: i, he, she, we, they."),
        ("we read books today today", "sentence is complete before “today”; take away what follows."),
        (
            "we read books now",
            "sentence has “now” as word 4; there goes one of: yesterday, today, early, late.",
        ),
    ],
)
def test_what_is_outside_the_toy_grammar_gets_one_sentence(sentence: str, refusal: str) -> None:
    assert str(read_clause(say("sentence"), sentence)) == refusal


def test_every_drawn_clause_is_read_back_and_fits_the_vocabularies() -> None:
    clauses = draw_clauses(draws(), 300, test=False)
    for clause in clauses:
        assert read_clause(say("sentence"), " ".join(clause.english)) == clause
        assert SOURCE.decode(SOURCE.encode([clause.english])[0].tolist()) == clause.english
        assert len(clause.english) <= LONGEST_SOURCE
        assert len(clause.chinese) < LONGEST_TARGET
        assert all(word in TARGET.ids for word in clause.chinese)
    places = sum(bool(clause.place) for clause in clauses) / len(clauses)
    assert 0.6 < places < 0.8
    words = {word for clause in clauses for word in clause.english}
    assert words == set(ENGLISH)
    assert {word for clause in clauses for word in clause.chinese} == set(CHINESE)
    assert len(ENGLISH) == len({*SUBJECTS, *VERBS, *OBJECTS, *PLACES, *TIMES, "some", "in", "the"})


def test_no_test_sentence_can_occur_in_training() -> None:
    for clause in draw_clauses(draws(), 200, test=True):
        assert held_out(clause.english)
    assert not any(held_out(clause.english) for clause in draw_clauses(draws(), 200, test=False))
    for language in ("zh", "en"):
        train = {review.words for review in draw_reviews(draws(0), language, 2000, test=False)}
        test = {review.words for review in draw_reviews(draws(1), language, 500, test=True)}
        assert train.isdisjoint(test)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_verdict_of_a_review_follows_from_its_words_by_the_rules_of_its_kind(language: str) -> None:
    words = WORDS[language]

    def good(clause: tuple[str, ...]) -> bool:
        return any(word in words.good for word in clause) != (words.negation in clause)

    reviews = draw_reviews(draws(), language, 2000, test=False)
    for review in reviews:
        sentence = review.words
        if words.but in sentence:
            main, other = sentence[sentence.index(words.but) + 1 :], sentence[: sentence.index(words.but)]
        elif words.although in sentence:
            main, other = sentence[: sentence.index(words.although)], sentence[sentence.index(words.although) + 1 :]
        else:
            main, other = sentence, ()
        assert good(main) is review.positive
        assert (review.kind == "contrast") is bool(other)
        assert not other or good(other) is not review.positive
        assert (review.kind == "negated") is (words.negation in sentence)
    shares = {kind: sum(review.kind == kind for review in reviews) / len(reviews) for kind in KINDS}
    assert shares == pytest.approx({"plain": 0.3, "negated": 0.3, "contrast": 0.4}, abs=0.08)
    assert sum(review.positive for review in reviews) / len(reviews) == pytest.approx(0.5, abs=0.04)
    assert len(vocabulary(language)) == 1 + len({word for review in reviews for word in review.words})


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_verdict_ends_a_training_sentence(language: str) -> None:
    texts = draw_verdicts(draws(), language, 50)
    table = verdict_vocabulary(language, "<mask>")
    assert table.words[:2] == ("<pad>", "<mask>")
    for text in texts:
        assert not held_out(text[:-3])
        assert text[-1] in PLEASED[language] + DISPLEASED[language]
        assert all(word in table.ids for word in text)


def test_dates_are_written_as_people_do_and_their_parts_are_known() -> None:
    day = datetime.date(1998, 3, 5)
    assert [write(day, format).text for format in FORMATS] == [
        "March 5, 1998",
        "5th March 1998",
        "5 Mar 1998",
        "Thursday, March 5, 1998",
        "Thu 5 Mar 1998",
        "1998年3月5日",
        "1998/03/05",
    ]
    for date in draw_dates(draws(), 200):
        year, month, number = date.iso.split("-")
        parts = {role: date.text[start:end] for role, (start, end) in date.spans.items()}
        assert parts["year"] == year
        assert int(parts["day"]) == int(number)
        assert parts["month"].isalpha() or int(parts["month"]) == int(month)
        assert set(date.text) <= set(characters())


def test_ordinals_end_as_in_english() -> None:
    days = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30, 31]
    assert [f"{day}{ordinal(day)}" for day in days] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "30th", "31st"]
    )


def test_a_vocabulary_pads_at_the_end() -> None:
    table = Vocabulary(["a", "b", "c"])
    assert table.encode([["a", "c"], ["b"]]).tolist() == [[1, 3], [2, 0]]
    assert len(table) == 4
