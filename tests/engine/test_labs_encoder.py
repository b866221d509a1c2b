"""The lab `encoder`: every layer's maps, what training puts into them, masks and dropout, and torch's own encoder."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from engine.contract import labs as declared
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Bars, Heatmap, Note, Progress, Report
from engine.contract.reviews import WORDS
from engine.labs import run, run_events
from engine.labs.encoder.trained import _kept
from tests.engine.reports import failed, heatmap, number, numbers, table

VIEWS = ("maps", "entropy", "rollout", "repeat", "parity")
SENTENCES = (
    "The cat sat on the mat",
    "我喜欢在咖啡馆里看书",
    "他他👍🏽a ❤️ ok ok",
    " ".join("abcdefghijklmnopqrstuvwx"),
)


@pytest.fixture(scope="module", params=["en", "zh"])
def trained(request: pytest.FixtureRequest) -> Report:
    return run("encoder", weights="trained", language=request.param)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_view_of_every_sentence_holds_its_invariants(view: str, sentence: str) -> None:
    report = run("encoder", view=view, sentence=sentence, embed_size=64)
    assert [str(invariant.name) for invariant in report.invariants if invariant.holds is not True] == []


@pytest.mark.parametrize(
    "params",
    [
        {"norm": "pre", "positions": "sinusoid"},
        {"positions": "none", "heads": 1, "layers": 1},
        {"embed_size": 320, "heads": 5, "layers": 6, "forward_expansion": 2},
        {"embed_size": 512, "heads": 8, "layers": 2, "forward_expansion": 8, "dropout": 0.5, "mode": "train"},
        {"embed_size": 32, "mode": "train", "dropout": 0.0},
    ],
)
@pytest.mark.parametrize("view", ["maps", "parity"])
def test_every_shape_holds_its_invariants(view: str, params: dict[str, Any]) -> None:
    assert failed(run("encoder", view=view, **params)) == []


def test_the_grid_shows_every_layer_and_head_and_not_only_the_last() -> None:
    report = run("encoder", layers=3, heads=2)
    maps = [panel for panel in report.panels if isinstance(panel, Heatmap)]
    assert [(panel.id, panel.group) for panel in maps] == [
        (f"layer-{layer}-{head}", f"layer-{layer}") for layer in (1, 2, 3) for head in ("mean", "1", "2")
    ]
    assert maps[0].row_labels == maps[0].column_labels == ("The", "cat", "sat", "on", "the", "mat")
    for layer in range(3):
        mean, first, second = (panel.values.rows() for panel in maps[3 * layer : 3 * layer + 3])
        for row, one, other in zip(mean, first, second, strict=True):
            assert row == pytest.approx([(a + b) / 2 for a, b in zip(one, other, strict=True)], abs=1e-6)
    assert [row[:2] for row in table(report, "heads").rows] == [(layer, head) for layer in (1, 2, 3) for head in (1, 2)]


def test_untrained_maps_are_near_uniform_in_every_seed_and_layer() -> None:
    for seed in range(10):
        report = run("encoder", seed=seed)
        assert number(report, "uniform_entropy") == pytest.approx(math.log(6), rel=1e-12)
        for layer in (1, 2):
            assert 1.62 < number(report, f"entropy_layer_{layer}") < 1.75
            assert len(numbers(report, f"entropies_layer_{layer}")) == 4


def test_attention_received_is_the_mean_over_queries_and_heads() -> None:
    report = run("encoder")
    received = numbers(report, "received_layer_1")
    rows = heatmap(report, "layer-1-mean").values.rows()
    assert received == pytest.approx([sum(column) / 6 for column in zip(*rows, strict=True)], abs=1e-6)
    bars = report.panel("received")
    assert isinstance(bars, Bars)
    labels = list(bars.labels)
    assert report.values["most_attended"] == labels[received.index(max(received))]


def test_a_layer_of_width_64_has_49_984_weights_two_thirds_of_them_feed_forward() -> None:
    report = run("encoder", embed_size=64)
    assert report.values["weights_layer"] == 49_984 == 12 * 64**2 + 13 * 64
    assert report.values["weights_feed_forward"] == 33_088
    assert number(report, "feed_forward_share") == pytest.approx(0.662, abs=5e-4)
    assert report.values["weights_all"] == 2 * 49_984 + 7 * 64 + 24 * 64  # 6 words and the padding, 24 positions
    assert (
        run("encoder", embed_size=64, norm="pre", positions="none").values["weights_all"] == 2 * 49_984 + 7 * 64 + 128
    )


@pytest.mark.parametrize("expansion", [2, 4, 8])
def test_the_weights_of_a_layer_follow_the_formula(expansion: int) -> None:
    d = 128
    report = run("encoder", embed_size=d, forward_expansion=expansion)
    assert report.values["weights_layer"] == 4 * d * d + 4 * d + 2 * expansion * d * d + (expansion + 1) * d + 4 * d
    assert [row[1] for row in table(report, "weights").rows[:4]] == [
        report.values[f"weights_{part}"] for part in ("attention", "feed_forward", "norms", "layer")
    ]


def test_words_have_fixed_vectors_and_positions_tell_repeated_ones_apart() -> None:
    alike = heatmap(run("encoder", sentence="the cat the dog", positions="none"), "layer-1-1").values.rows()
    assert alike[0] == pytest.approx(alike[2], abs=1e-6)
    placed = heatmap(run("encoder", sentence="the cat the dog", positions="sinusoid"), "layer-1-1").values.rows()
    assert max(abs(a - b) for a, b in zip(placed[0], placed[2], strict=True)) > 1e-3


def test_two_passes_agree_in_eval_mode_and_differ_in_train_mode() -> None:
    same = run("encoder", view="repeat")
    assert (same.values["passes_identical"], same.values["largest_change"]) == (True, 0.0)
    differ = run("encoder", view="repeat", mode="train")
    assert differ.values["passes_identical"] is False
    assert 0.02 < number(differ, "largest_change") < 0.6
    maps = [heatmap(differ, f"pass-{i}").values.rows() for i in (1, 2)]
    changes = [abs(a - b) for one, other in zip(*maps, strict=True) for a, b in zip(one, other, strict=True)]
    assert max(changes) == pytest.approx(max(list(heatmap(differ, "changes").values.flat())[4:]), abs=1e-6)
    off = run("encoder", view="repeat", mode="train", dropout=0)
    assert off.values["passes_identical"] is True


def test_a_view_in_train_mode_is_the_same_in_every_run() -> None:
    torch.manual_seed(1)
    first = heatmap(run("encoder", mode="train"), "layer-2-1").values
    torch.manual_seed(2)
    assert heatmap(run("encoder", mode="train"), "layer-2-1").values == first


def test_the_rollout_of_one_layer_is_half_its_mean_map_and_half_the_word_itself() -> None:
    mean = heatmap(run("encoder", layers=1), "layer-1-mean").values.rows()
    report = run("encoder", layers=1, view="rollout")
    for i, (row, weights) in enumerate(zip(heatmap(report, "rollout").values.rows(), mean, strict=True)):
        assert row == pytest.approx([(w + (i == j)) / 2 for j, w in enumerate(weights)], abs=1e-6)
    pooled = numbers(report, "rollout_pooled")
    assert sum(pooled) == pytest.approx(1.0, abs=1e-7)
    assert number(report, "rollout_most_share") == max(pooled)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_torchs_encoder_with_these_weights_gives_the_same_logits_and_the_same_leak(norm: str, positions: str) -> None:
    report = run("encoder", view="parity", norm=norm, positions=positions)
    assert number(report, "logits_difference") < 1e-12
    assert number(report, "leak") == number(report, "leak_torch") == 0.0
    assert number(report, "leak_no_mask") > 0.1
    assert number(report, "leak_no_mask_torch") == pytest.approx(number(report, "leak_no_mask"), rel=1e-9)
    assert report.values["wrong_polarity"] in ("nan", "leaks")
    assert math.isnan(number(report, "leak_wrong_polarity")) or number(report, "leak_wrong_polarity") > 1e-3
    assert len(table(report, "parity").rows) == 4
    assert isinstance(report.panel("polarity"), Note)


def test_the_trained_classifier_judges_every_kind_of_review(trained: Report) -> None:
    assert number(trained, "accuracy") > 0.98
    assert min(number(trained, f"accuracy_{kind}") for kind in ("plain", "negated", "contrast")) > 0.95
    assert trained.values["positive"] is True  # what comes after “but” counts
    assert number(trained, "probability_positive") > 0.9
    assert failed(trained) == []


def test_after_training_a_conjunction_gets_most_of_the_attention(trained: Report) -> None:
    language = "en" if "cast" in heatmap(trained, "layer-1-mean").row_labels else "zh"
    words = WORDS[language]
    assert trained.values["peak_word"] in (words.but, words.although)
    shares = number(trained, "peak_share_but"), number(trained, "peak_share_although")
    assert max(shares) > 0.25
    first, *_ = table(trained, "peaks").rows
    assert first[0] == trained.values["peak_word"]
    assert float(str(first[3])) == pytest.approx(max(shares))
    assert number(trained, "entropy_layer_1") < number(trained, "uniform_entropy") - 0.3  # sharper than untrained ones


@pytest.mark.parametrize("language", ["en", "zh"])
def test_some_head_of_layer_1_is_missed_and_none_of_layer_2(language: str) -> None:
    report = run("encoder", weights="trained", view="ablation", language=language)
    assert failed(report) == []
    lost = numbers(report, "lost_layer_1"), numbers(report, "lost_layer_2")
    assert max(lost[0]) == number(report, "worst_loss_layer_1") >= 0.10
    assert max(lost[1]) == number(report, "worst_loss_layer_2") <= 0.01
    assert lost[0].index(max(lost[0])) + 1 == report.values["worst_head"]
    rows = table(report, "ablation").rows
    assert [number(report, "accuracy") - float(str(row[2])) for row in rows] == pytest.approx([*lost[0], *lost[1]])


def test_the_review_decides_the_language_and_its_verdict_turns_with_the_clauses() -> None:
    report = run("encoder", weights="trained", review="音乐动人但是演员平淡", language="en")
    assert report.values["positive"] is False
    assert heatmap(report, "layer-1-mean").row_labels == ("音乐", "动人", "但是", "演员", "平淡")
    assert run("encoder", weights="trained", review="The music was not moving.").values["positive"] is False


def test_training_tells_how_far_it_is_and_happens_once_per_language_and_seed() -> None:
    _kept.pop(("en", 0), None)
    params = build(declared.declaration("encoder").parameters, {"weights": "trained"}, "en")
    events = list(run_events("encoder", params))
    fractions = [event.fraction for event in events if isinstance(event, Progress)]
    assert len(fractions) >= 3
    assert fractions == sorted(fractions)
    again = list(run_events("encoder", params))
    assert [type(event) for event in again] == [Report]
    assert isinstance(events[-1], Report)
    assert again[-1].values == events[-1].values  # type: ignore[union-attr]


def test_dropout_on_a_trained_encoder_changes_its_maps_and_not_its_accuracy(trained: Report) -> None:
    noisy = run("encoder", weights="trained", mode="train", dropout=0.3, view="repeat")
    assert noisy.values["passes_identical"] is False
    assert number(noisy, "accuracy") > 0.98
    assert failed(noisy) == []


@pytest.mark.extreme
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("seed", range(1, 6))
def test_in_every_seed_a_conjunction_draws_attention_and_layer_1_alone_is_missed(language: str, seed: int) -> None:
    report = run("encoder", weights="trained", view="ablation", language=language, seed=seed)
    assert number(report, "accuracy") > 0.98
    assert failed(report) == []
    assert report.values["peak_word"] in (WORDS[language].but, WORDS[language].although)


@pytest.mark.parametrize(
    ("params", "field", "message"),
    [
        ({"sentence": ""}, "sentence", "sentence is empty; type at least 2 words or Chinese characters."),
        (
            {"sentence": "猫"},
            "sentence",
            "sentence has 1 token (“猫”), but at least 2 are needed to compare them.",
        ),
        (
            {"sentence": "a " * 25},
            "sentence",
            "sentence has 25 tokens, but at most 24 are taken; shorten it.",
        ),
        (
            {"heads": 3},
            "heads",
            "3 heads cannot share an embedding of width 256 equally; choose one of: 1, 2, 4, 8.",
        ),
        (
            {"view": "ablation"},
            "view",
            "Untrained heads do nothing that one could miss; choose trained weights.",
        ),
        ({"weights": "trained", "review": "dull"}, "review", "review takes 2 to 24 words; this has 1."),
    ],
)
def test_what_cannot_be_viewed_is_refused_in_one_sentence(params: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("encoder", **params)
    assert [(p.field, str(p.message)) for p in caught.value.problems] == [(field, message)]


def test_an_unknown_word_is_named_with_the_words_that_are_known() -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("encoder", weights="trained", review="the dog was dull")
    assert str(caught.value.problems[0].message).startswith(
        "review has the word “dog”, which the trained model has never seen; it knows: the film"
    )


def test_the_fields_of_the_other_kind_of_weights_do_not_matter() -> None:
    assert failed(run("encoder", weights="trained", sentence="", heads=3, embed_size=64)) == []
    assert failed(run("encoder", review="")) == []
    params = build(declared.declaration("encoder").parameters, {"weights": "trained"}, "en")
    assert [f for f in params.__struct_fields__ if params.relevant(f)] == [
        "weights",
        "review",
        "view",
        "mode",
        "dropout",
    ]
