"""The lab `bert-vs-gpt`: one body and two masks; the GPT learns faster, the BERT sees the clue on the right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from engine.contract.labs.bert_vs_gpt import PROMPT, BertVsGptParams
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Bars, Curves, Report
from engine.contract.verdicts import DISPLEASED, PLEASED
from engine.labs import run
from engine.labs.base import Context
from engine.labs.bert_vs_gpt.compare import draw_gaps, fill, go_on, prefers, zero_shot
from engine.labs.bert_vs_gpt.model import Judge
from engine.labs.bert_vs_gpt.pretrain import MASK, SPECIAL, Pair, hide
from engine.layers.decoding import greedy
from engine.layers.loss import IGNORED
from engine.tasks.draws import Draws
from engine.tasks.sentiment import draw_reviews
from tests.engine.reports import failed, number, table


@pytest.fixture(scope="module")
def report() -> Iterator[Report]:
    """The shortest run; of the tuning only a quarter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.labs.bert_vs_gpt.tune.STEPS", 20)
        yield run("bert-vs-gpt", steps=400, pooling="last")


@pytest.fixture(scope="module")
def pair() -> Pair:
    params = build(BertVsGptParams, {}, "en")
    assert isinstance(params, BertVsGptParams)
    return Pair(params, "en", Context())


def test_after_400_steps_the_gpt_judges_reviews_without_a_label(report: Report) -> None:
    assert number(report, "zero_shot_gpt") >= 0.9
    assert report.values["gpt_judges_better"] is True
    assert [invariant.holds for invariant in report.invariants] == [True] * 4


def test_going_on_from_the_left_guesses_and_weighing_sentences_knows(report: Report) -> None:
    assert 0.3 < number(report, "fill_gpt_prefix") < 0.7
    assert number(report, "fill_gpt_whole") >= 0.9
    assert [(row[1], row[2]) for row in table(report, "fill").rows] == [
        (1, report.values["fill_bert"]),
        (1, report.values["fill_gpt_prefix"]),
        (16, report.values["fill_gpt_whole"]),
    ]


def test_every_start_of_the_tuning_is_in_the_table_and_the_chosen_ones_in_the_bars(report: Report) -> None:
    rows = table(report, "tuned").rows
    assert [row[1] for row in rows] == [value for name, value in report.values.items() if name.startswith("tuned_")]
    assert len(rows) == 6
    bars = report.panel("tuned_bars")
    assert isinstance(bars, Bars)
    assert [str(label) for label in bars.labels] == [
        "BERT, mean",
        "GPT, last word",
        "BERT, mean, from scratch",
        "GPT, last word, from scratch",
    ]
    curves = report.panel("loss")
    assert isinstance(curves, Curves)
    assert [len(list(series.y.flat())) for series in curves.series] == [400, 400]


def test_the_gpt_goes_on_with_words_it_knows(report: Report, pair: Pair) -> None:
    texts = [str(row[0]).split() for row in table(report, "written").rows]
    assert len(texts) == 5
    assert {word for text in texts for word in text} <= set(pair.words.words[SPECIAL:])
    endings = {*PLEASED["en"], *DISPLEASED["en"]}
    assert sum(text[-1] in endings for text in texts) >= 4


def test_both_models_start_from_the_same_weights_and_differ_in_what_they_see(pair: Pair) -> None:
    for (name, bert), (other, gpt) in zip(pair.bert.state_dict().items(), pair.gpt.state_dict().items(), strict=True):
        assert name == other
        assert torch.equal(bert, gpt)
    tokens = pair.texts[:8, :6]
    changed = tokens.clone()
    changed[:, -1] = pair.words.ids["dull"]
    with torch.no_grad():
        assert torch.equal(pair.gpt(changed)[:, :-1], pair.gpt(tokens)[:, :-1])
        assert not torch.allclose(pair.bert(changed)[:, :-1], pair.bert(tokens)[:, :-1])


@pytest.mark.parametrize("rate", [0.2, 0.4])
def test_words_are_hidden_at_the_rate_four_fifths_behind_the_mask(pair: Pair, rate: float) -> None:
    tokens = pair.texts
    batch = hide(tokens, rate, len(pair.words), torch.Generator().manual_seed(0))
    words = tokens >= SPECIAL
    hidden = batch.labels != IGNORED
    assert not (hidden & ~words).any()
    assert torch.equal(batch.hidden[~hidden], tokens[~hidden])
    assert torch.equal(batch.labels[hidden], tokens[hidden])
    assert (hidden.sum() / words.sum()).item() == pytest.approx(rate, abs=0.01)
    behind = batch.hidden[hidden]
    assert (behind == pair.words.ids[MASK]).double().mean().item() == pytest.approx(0.8, abs=0.01)
    assert (behind == tokens[hidden]).double().mean().item() == pytest.approx(0.1, abs=0.02)


def test_a_text_of_one_word_still_has_one_to_find(pair: Pair) -> None:
    for seed in range(20):
        batch = hide(torch.tensor([[2, 7, 3, 0]]), 0.2, len(pair.words), torch.Generator().manual_seed(seed))
        assert batch.labels.tolist() == [[IGNORED, 7, IGNORED, IGNORED]]


def test_the_gaps_are_single_words_of_praise_or_blame_with_the_verdict_behind(pair: Pair) -> None:
    gaps = draw_gaps(pair)
    assert len(gaps) == 300
    for gap in gaps:
        negated = "not" in gap.words
        pleased = gap.words[-1] in PLEASED["en"]
        assert gap.words[gap.place + 1 : -1] == ("so", "we")
        assert gap.good is (pleased != negated)
    assert 0.4 < sum(gap.good for gap in gaps) / 300 < 0.6


def test_a_model_that_has_learned_nothing_guesses_everywhere(pair: Pair) -> None:
    reviews = draw_reviews(Draws(torch.Generator().manual_seed(0)), "en", 200, test=True)
    for right in zero_shot(pair, reviews).values():
        assert 0.35 < right.double().mean().item() < 0.65
    filled = fill(pair, draw_gaps(pair))
    assert 0.35 < filled.gpt_whole.double().mean().item() < 0.65


def test_more_probability_together_wins(pair: Pair) -> None:
    scores = torch.zeros(len(pair.words))
    scores[pair.words.ids["great"]] = 0.5
    assert prefers(pair, scores, ("great", "lovely"), ("dull", "awful")).item() is True
    assert prefers(pair, scores, ("great",), ("dull", "awful")).item() is False


def test_writing_greedily_is_five_times_the_same_and_stays_within_the_positions(pair: Pair) -> None:
    texts = go_on(pair, ["the"] * 10, greedy)
    assert len(set(texts)) == 1
    assert len(texts[0].split()) <= 24 - 11


@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_padding_changes_no_verdict(pair: Pair, pooling: str) -> None:
    judge = Judge(pair.gpt.body, pooling, torch.Generator().manual_seed(0))
    tokens = torch.tensor([[2, 7, 8, 9, 3]])
    padded = torch.tensor([[2, 7, 8, 9, 3, 0, 0]])
    assert torch.allclose(judge(tokens), judge(padded), atol=1e-6)
    assert torch.equal(judge.body.reader.table.weight, pair.gpt.body.reader.table.weight)
    assert judge.body is not pair.gpt.body


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"prompt": "the book"}, "prompt", "book"),
        ({"prompt": ""}, "prompt", "1 to 24 words; this has 0"),
        ({"prompt": "the " * 11}, "prompt", "prompt has 11 words, but at most 10 are taken; shorten it."),
        ({"prompt": "剧情 不", "reviews": "en"}, "prompt", "choose “that of the prompt”"),
        ({"labels": 32}, "labels", "16, 64, 256"),
        ({"mask_rate": 0.1}, "mask_rate", "between 0.2 and 0.4"),
    ],
)
def test_bad_input_is_refused_with_what_would_do(given: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("bert-vs-gpt", **given)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert reason in str(caught.value.problems[0].message)


def test_a_prompt_may_ask_for_the_verdict_in_both_languages() -> None:
    for prompt in ("the plot was dull so we", "剧情无聊所以我们"):
        assert build(BertVsGptParams, {"prompt": prompt}, "en") is not None
    assert build(BertVsGptParams, {"prompt": PROMPT.zh, "reviews": "en"}, "zh") is not None


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(2))
def test_at_the_defaults_the_bert_has_learned_to_use_the_right_side(seed: int) -> None:
    report = run("bert-vs-gpt", seed=seed)
    assert number(report, "fill_bert") >= 0.9
    assert number(report, "fill_gpt_prefix") < 0.7
    assert number(report, "fill_gpt_whole") >= 0.9
    assert number(report, "zero_shot_gpt") >= 0.9
    assert report.values["bert_fills_better"] is True
    assert failed(report) == []


@pytest.mark.extreme
@pytest.mark.parametrize("labels", [16, 256])
def test_at_the_corners_of_the_ranges_every_invariant_holds(labels: int) -> None:
    for mask_rate, temperature, top_k in ((0.2, 0.0, 20), (0.4, 2.0, 1)):
        report = run(
            "bert-vs-gpt",
            steps=400,
            prompt=PROMPT.zh,
            labels=labels,
            mask_rate=mask_rate,
            temperature=temperature,
            top_k=top_k,
        )
        assert failed(report) == []
        assert number(report, "zero_shot_gpt") >= 0.9
