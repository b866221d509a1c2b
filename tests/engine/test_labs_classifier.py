"""The lab `classifier`: interaction solves negation, positions solve contrast, and a bag of words neither."""

from __future__ import annotations

from typing import Any

import pytest

from engine.contract.labs.classifier import SENTENCE, ClassifierParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Curves, Note, Report
from engine.labs import run
from engine.tasks.split import held_out
from tests.engine.reports import failed, heatmap, number, numbers, table


@pytest.fixture(scope="module")
def learned() -> Report:
    return run("classifier", epochs=4)


@pytest.fixture(scope="module")
def bag() -> Report:
    return run("classifier", model="bag")


def test_with_learned_positions_four_epochs_are_enough(learned: Report) -> None:
    assert number(learned, "accuracy") >= 0.95
    assert number(learned, "accuracy_contrast") >= 0.9
    assert number(learned, "first_loss") == pytest.approx(0.69, abs=0.2)
    assert [invariant.holds for invariant in learned.invariants] == [True, True, None]
    epoch = int(number(learned, "epoch_learned"))
    assert [share >= 0.95 for share in numbers(learned, "accuracies")].index(True) == epoch - 1


def test_without_positions_negation_is_learned_and_contrast_is_guessed() -> None:
    report = run("classifier", model="none", epochs=4)
    assert 0.7 <= number(report, "accuracy") <= 0.9
    assert number(report, "accuracy_negated") >= 0.9
    assert number(report, "accuracy_contrast") < 0.65
    assert [invariant.holds for invariant in report.invariants] == [True, True, True]


def test_a_bag_of_words_is_below_chance_on_negated_reviews(bag: Report) -> None:
    assert number(bag, "accuracy") < 0.65
    assert number(bag, "accuracy_negated") < 0.5
    assert number(bag, "weights") == 2 * 34  # two votes for each of 33 words and the padding
    assert [invariant.holds for invariant in bag.invariants] == [True, True, True]
    assert [panel.id for panel in bag.panels] == ["loss", "accuracy", "kinds", "confusion", "verdict"]


def test_both_tables_count_the_same_verdicts(learned: Report, bag: Report) -> None:
    for report in (learned, bag):
        *kinds, everything = table(report, "kinds").rows
        assert sum(int(str(row[1])) for row in kinds) == everything[1] == 500
        right = sum(float(str(row[1])) * float(str(row[2])) for row in kinds)
        assert right == pytest.approx(500 * number(report, "accuracy"))
        (negative, positive) = table(report, "confusion").rows
        assert int(str(negative[1])) + int(str(positive[2])) == pytest.approx(right)
        assert sum(int(str(cell)) for row in (negative, positive) for cell in row[1:]) == 500


def test_the_accuracy_of_every_epoch_is_drawn(learned: Report) -> None:
    curves = learned.panel("accuracy")
    assert isinstance(curves, Curves)
    assert list(curves.x.flat()) == [1, 2, 3, 4]
    assert list(curves.series[0].y.flat()) == numbers(learned, "accuracies")


def test_the_own_review_is_judged_with_the_attention_of_every_layer(learned: Report) -> None:
    assert number(learned, "probability_positive") > 0.9
    note = learned.panel("verdict")
    assert isinstance(note, Note)
    assert str(note.text).startswith("“the cast was flat but the music was moving” is positive: p(positive) = ")
    for layer in ("attention1", "attention2"):
        rows = heatmap(learned, layer).values.rows()
        assert [sum(row) for row in rows] == pytest.approx([1.0] * 9, abs=1e-6)
    assert heatmap(learned, "attention1").row_labels[5:8] == ("the₂", "music", "was₂")


@pytest.mark.parametrize("sentence", [SENTENCE.zh, SENTENCE.en])
def test_the_default_review_is_a_test_review(sentence: str) -> None:
    assert held_out(sentence.split())


def test_the_reviews_are_in_the_language_of_the_sentence_unless_one_is_chosen() -> None:
    def weights(**given: Any) -> float:
        return number(run("classifier", model="bag", epochs=1, **given), "weights")

    english, chinese = 2 * 34, 2 * 32
    assert weights(sentence="剧情 不 无聊") == chinese
    assert weights(reviews="zh") == chinese  # the default sentence becomes the Chinese one
    assert weights(sentence=SENTENCE.zh, reviews="en") == english
    with pytest.raises(InvalidParameters) as caught:
        weights(sentence="剧情 不 无聊", reviews="en")
    assert str(caught.value.problems[0].message) == (
        "sentence is not in the language of the reviews; type one in it, or choose “that of the sentence”."
    )


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"sentence": "the plot was superb"}, "sentence", "superb"),
        ({"sentence": "plot"}, "sentence", "2 to 24 words"),
        ({"d": 16, "heads": 3}, "heads", "choose one of: 1, 2, 4, 8"),
    ],
)
def test_bad_input_is_refused_with_what_would_do(given: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("classifier", **given)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert reason in str(caught.value.problems[0].message)


def test_a_long_review_reaches_positions_that_nobody_trained() -> None:
    review = "the plot was dull but the music was moving but the cast was warm"
    report = run("classifier", epochs=1, layers=1, sentence=review)
    note = report.panel("length")
    assert isinstance(note, Note)
    assert str(note.text) == "No review trained on is longer than 11 words."


def test_a_bag_has_no_layers_to_choose() -> None:
    hidden = [name for name in ClassifierParams.__struct_fields__ if not ClassifierParams(model="bag").relevant(name)]
    assert hidden == ["layers", "d", "heads", "dropout"]
    assert run("classifier", model="bag", epochs=1, heads=3).values["weights"] == 68
    assert ClassifierParams(d=48).options("heads") == (1, 2, 3, 4, 6, 8)


def test_the_same_seed_learns_the_same_also_with_dropout() -> None:
    def once(seed: int) -> list[float]:
        report = run("classifier", epochs=1, layers=1, d=16, dropout=0.3, smoothing=0.2, warmup=100, seed=seed)
        assert failed(report) == []
        return [number(report, "last_loss"), number(report, "accuracy"), number(report, "probability_positive")]

    assert once(3) == once(3) != once(4)


@pytest.mark.extreme
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("seed", range(2))
def test_the_bounds_hold_at_the_defaults(language: str, seed: int) -> None:
    sentence = SENTENCE.default(language)
    reports = {
        model: run("classifier", model=model, sentence=sentence, seed=seed)
        for model in ("bag", "none", "learned", "sinusoid")
    }
    assert number(reports["learned"], "accuracy") >= 0.95
    assert number(reports["sinusoid"], "accuracy") >= 0.95
    assert 0.7 <= number(reports["none"], "accuracy") <= 0.9
    assert number(reports["none"], "accuracy_contrast") < 0.65
    assert number(reports["bag"], "accuracy") < 0.65
    assert number(reports["bag"], "accuracy_negated") < 0.5
    assert [failed(report) for report in reports.values()] == [[]] * 4


@pytest.mark.extreme
@pytest.mark.parametrize("d", [16, 64])
@pytest.mark.parametrize("layers", [1, 4])
def test_at_the_corners_of_the_ranges_every_invariant_holds(d: int, layers: int) -> None:
    for model in ("none", "learned", "sinusoid"):
        report = run("classifier", model=model, d=d, layers=layers, heads=8, lr=1e-2, epochs=2, dropout=0.3)
        assert failed(report) == []
