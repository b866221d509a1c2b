"""The lab `char-gpt`: from ln V to real words; cold writing is greedy, and the future changes nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.contract.labs.char_gpt import LESSON_PROMPT, CharGptParams, alphabet, lesson_text
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Curves, Note, Report
from engine.labs import run
from engine.labs.base import Context
from engine.labs.char_gpt.text import corpus
from tests.engine.reports import failed, number, numbers, table

TINY: dict[str, Any] = {"steps": 50, "layers": 1, "d": 32, "context": 16}


@pytest.fixture(scope="module")
def report() -> Report:
    return run("char-gpt", steps=200)


@pytest.fixture(scope="module")
def tiny() -> Report:
    return run("char-gpt", **TINY, corpus="sent-zh", temperature=0.5, top_k=3)


def test_the_loss_starts_at_ln_v_and_is_below_0_7_after_200_steps(report: Report) -> None:
    assert report.values["vocabulary"] == 27
    assert number(report, "start_loss") == pytest.approx(math.log(27), abs=0.1)
    assert number(report, "loss_200") == number(report, "last_loss") < 0.7
    assert number(report, "perplexity") == pytest.approx(math.exp(number(report, "last_loss")))
    assert [invariant.holds for invariant in report.invariants] == [True] * 6


def test_what_is_written_becomes_words(report: Report) -> None:
    before, _, after = numbers(report, "real_words")
    assert before < 0.1
    assert after > 0.5
    cold, *_, hot = numbers(report, "real_words_at_temperatures")
    assert cold > hot + 0.2
    assert [row[0] for row in table(report, "samples").rows] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert [row[0] for row in table(report, "marks").rows] == [0, 100, 200]


def test_after_the_p_comes_the_plot_or_the_pacing(report: Report) -> None:
    first, second, *others = table(report, "next").rows
    assert {first[0], second[0]} == {"l", "a"}
    assert sum(float(str(row[1])) for row in (first, second)) > 0.7
    assert [row[1] for row in others] == sorted((row[1] for row in others), reverse=True, key=lambda p: float(str(p)))


def test_the_line_of_guessing_lies_at_ln_v(report: Report) -> None:
    for id, points in (("loss", 200), ("validation", 3)):
        curves = report.panel(id)
        assert isinstance(curves, Curves)
        assert list(curves.series[1].y.flat()) == [pytest.approx(math.log(27))] * points


def test_temperature_and_top_k_leave_three_characters_and_sharpen_them(tiny: Report) -> None:
    rows = [(float(str(plain)), float(str(drawn))) for _, plain, drawn in table(tiny, "next").rows]
    kept = [plain**2 for plain, _ in rows[:3]]  # a temperature of one half squares
    assert [drawn for _, drawn in rows[:3]] == pytest.approx([part / sum(kept) for part in kept], rel=1e-4)
    assert [drawn for _, drawn in rows[3:]] == [0.0] * 5
    assert tiny.values["vocabulary"] == 60
    assert failed(tiny) == []


def test_the_output_shares_the_embedding_and_cold_drawing_is_certain() -> None:
    report = run("char-gpt", **TINY, temperature=0.0)
    block = 4 * 32 * 32 + 4 * 32 + 8 * 32 * 32 + 5 * 32 + 4 * 32
    assert report.values["weights"] == 27 * 32 + 16 * 32 + block + 2 * 32  # no output matrix: it is the embedding
    assert [row[2] for row in table(report, "next").rows] == [1.0] + [0.0] * 7
    note = report.panel("written")
    assert isinstance(note, Note)
    assert str(note.text).startswith("“the p” → ")


def test_the_same_seed_writes_the_same_and_another_one_does_not() -> None:
    first, second, other = (run("char-gpt", **TINY, seed=seed).values["written"] for seed in (1, 1, 2))
    assert first == second != other


def test_a_pasted_text_is_learned_and_gone_on_with() -> None:
    report = run("char-gpt", **TINY, corpus="paste", paste="一二三四五六七八九十" * 10)
    assert report.values["vocabulary"] == 10
    assert str(report.values["written"]).startswith("六七八九十")
    assert math.isnan(numbers(report, "real_words")[0])  # there are no words to count
    assert failed(report) == []


def test_one_letter_over_and_over_costs_nothing_to_guess() -> None:
    report = run("char-gpt", **TINY, corpus="paste", paste="a" * 40, top_k=20)
    assert report.values["start_loss"] == report.values["ln_vocabulary"] == 0
    assert failed(report) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lessons_are_prose_of_the_course(language: str) -> None:
    text = lesson_text(language)
    assert 10_000 < len(text) <= 45_000
    assert LESSON_PROMPT[language] in text
    assert not set("$`{#") & set(text)
    assert build(CharGptParams, {"corpus": "lessons"}, language) is not None


@pytest.mark.parametrize("name", ["sent-en", "sent-zh"])
def test_every_character_of_the_reviews_is_in_the_alphabet(name: str) -> None:
    params = build(CharGptParams, {"corpus": name}, "en")
    assert isinstance(params, CharGptParams)
    found = corpus(params, Context())
    assert tuple(sorted(set(found.text))) == alphabet(params) == found.letters
    assert found.real_words(found.text) == 1.0
    assert found.decode(found.encode(found.text[:50]).tolist()) == found.text[:50]


def test_words_that_are_none_are_told_apart_in_both_languages() -> None:
    english, chinese = (corpus(CharGptParams(corpus=name, prompt="x"), Context()) for name in ("sent-en", "sent-zh"))
    assert english.real_words("the plot was drull.\n") == 0.75
    assert chinese.real_words("剧情真的无无聊。") == 0.75
    assert english.real_words(".\n") is None


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        (
            {"corpus": "paste", "paste": "too short"},
            "paste",
            "your own text has 9 characters; a context of 48 needs at least 98.",
        ),
        ({"corpus": "paste"}, "paste", "your own text has 0 characters; a context of 48 needs at least 98."),
        ({"prompt": "the Plot"}, "prompt", "prompt has the character “P”, which the corpus does not contain."),
        ({"prompt": "  "}, "prompt", "prompt is empty; type at least one character."),
        ({"d": 32, "heads": 6}, "heads", "6 heads cannot share a width of 32 equally; choose one of: 1, 2, 4, 8."),
        ({"top_k": 4}, "top_k", "top-k cannot be “4”; choose one of: none, 1, 2, 3, 5, 10, 20."),
    ],
)
def test_bad_input_is_refused_with_what_would_do(given: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("char-gpt", **given)
    assert [(problem.field, str(problem.message)) for problem in caught.value.problems] == [(field, reason)]


def test_lessons_that_are_not_installed_are_missed_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.contract.labs.char_gpt.lesson_text", lambda language: "")
    with pytest.raises(InvalidParameters) as caught:
        run("char-gpt", corpus="lessons")
    (problem,) = caught.value.problems
    assert str(problem.message) == "The lessons are not installed beside the engine; choose another corpus."


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("name", "bound"), [("sent-en", 0.7), ("sent-zh", 1.4)])
def test_the_bounds_at_200_steps_and_the_words_at_400_hold_in_every_seed(name: str, bound: float, seed: int) -> None:
    report = run("char-gpt", corpus=name, seed=seed)
    assert number(report, "loss_200") < bound
    assert numbers(report, "real_words")[-1] >= 0.7
    assert failed(report) == []


@pytest.mark.extreme
@pytest.mark.parametrize("name", ["sent-en", "sent-zh", "lessons"])
@pytest.mark.parametrize(("layers", "d", "heads", "context"), [(1, 32, 1, 16), (4, 96, 8, 96)])
def test_at_the_corners_of_the_ranges_every_invariant_holds(
    name: str, layers: int, d: int, heads: int, context: int
) -> None:
    for temperature, top_k in ((0.0, "none"), (2.0, 1)):
        report = run(
            "char-gpt",
            corpus=name,
            layers=layers,
            d=d,
            heads=heads,
            context=context,
            steps=50,
            temperature=temperature,
            top_k=top_k,
        )
        assert failed(report) == []
