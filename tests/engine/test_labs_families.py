"""The lab `families`: who sees whom, what is predicted where, and that nothing of a text is lost."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.parameters import InvalidParameters
from engine.gradients.influence import influence
from engine.labs import run
from engine.labs.families.examples import bert_example, restored, t5_example
from tests.engine.reports import failed, heatmap, number, table

TWENTY = " ".join(f"w{i}" for i in range(20))


@pytest.mark.parametrize("family", ["BERT", "GPT", "T5"])
def test_twenty_tokens_have_three_targets_in_bert_and_twenty_in_gpt_in_every_seed(family: str) -> None:
    for seed in range(5):
        values = run("families", family=family, text=TWENTY, seed=seed).values
        assert (values["supervised_bert"], values["supervised_gpt"]) == (3, 20)
        assert values["supervised_gpt_without_bos"] == 19


def test_independent_draws_would_choose_three_of_twenty_only_sometimes() -> None:
    assert round(number(run("families", text=TWENTY), "independent_same"), 2) == 0.24
    assert round(number(run("families", text="a b c d e f"), "independent_none"), 2) == 0.38


def test_the_t5_example_of_the_course() -> None:
    values = run("families", family="T5", spans="2 4; 8 9").values
    assert values["t5_input"] == "we walked <X0> river bank until the <X1> stopped"
    assert values["t5_target"] == "<X0> along the <X1> rain <X2>"
    assert values["supervised_t5"] == 6


def test_a_gpt_is_to_say_each_word_where_it_has_read_those_before() -> None:
    rows = table(run("families", family="GPT", language="zh"), "example").rows
    assert rows[0] == ("<bos>", "我们")
    assert rows[-1] == ("雨", "停")


def test_visibility_is_full_or_lower_triangular_or_two_stacks() -> None:
    bert = heatmap(run("families", text="a b c"), "visibility")
    assert bert.values.rows() == [[1.0] * 5] * 5
    assert bert.row_labels[0] == "[CLS]"
    gpt = heatmap(run("families", family="GPT", text="a b c"), "visibility")
    assert gpt.values.rows() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    t5 = heatmap(run("families", family="T5", text="a b c", spans="1 3"), "visibility")
    assert t5.column_labels == ("a", "<X0>", "<bos>", "<X0>₂", "b", "c")
    assert t5.values.rows() == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1],
    ]


def test_influence_is_zero_exactly_where_nothing_passes() -> None:
    mix = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    inputs = torch.ones(3, 2, dtype=torch.float64)
    depends = influence(lambda x: mix @ x, inputs, torch.Generator().manual_seed(0))
    assert ((depends > 0) == (mix > 0)).all()
    assert (depends[0, 2] / depends[0, 0]).item() == pytest.approx(2.0)
    assert not inputs.requires_grad


def test_chosen_tokens_are_masked_replaced_and_kept_as_80_10_10() -> None:
    words = [f"w{i}" for i in range(50)]
    generator = torch.Generator().manual_seed(1)
    counts: Counter[str] = Counter()
    for _ in range(400):
        example = bert_example(words, 0.2, generator)
        assert len(example.chosen) == 10
        counts.update(treatment for treatment in example.treatment if treatment)
        for position in example.chosen:
            assert example.labels[position] == example.tokens[position]
    total = counts.total() if hasattr(counts, "total") else sum(counts.values())
    for name, share in (("masked", 0.8), ("replaced", 0.1), ("kept", 0.1)):
        assert abs(counts[name] / total - share) < 4 * sqrt(share * (1 - share) / total)


def test_every_position_is_chosen_equally_often() -> None:
    generator = torch.Generator().manual_seed(2)
    counts: Counter[int] = Counter()
    for _ in range(2000):
        counts.update(bert_example(list("abcdefgh"), 0.25, generator).chosen)
    assert sorted(counts) == list(range(1, 9))
    assert all(abs(count - 500) < 5 * sqrt(500 * 0.75) for count in counts.values())


spans_of_twelve = st.lists(st.integers(0, 12), min_size=2, max_size=10, unique=True).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@settings(max_examples=60)
@given(spans_of_twelve, st.lists(st.sampled_from("abc"), min_size=12, max_size=12))
def test_input_and_target_give_the_text_back_for_any_spans(spans: list[tuple[int, int]], words: list[str]) -> None:
    example = t5_example(words, spans)
    assert restored(example) == words
    assert len(example.source) == 12 - sum(end - start for start, end in spans) + len(spans)
    assert example.target[-1] == f"<X{len(spans)}>"


def test_spans_may_touch_and_begin_and_end_with_the_text() -> None:
    report = run("families", family="T5", text="a b c d", spans="0 2; 2 4")
    assert failed(report) == []
    assert report.values["t5_input"] == "<X0> <X1>"
    assert report.values["t5_target"] == "<X0> a b <X1> c d <X2>"


def test_without_spans_one_of_the_mask_rate_is_drawn() -> None:
    starts = set()
    for seed in range(20):
        values = run("families", family="T5", text=TWENTY, spans="", mask_rate=0.2, seed=seed).values
        assert values["supervised_t5"] == 4 + 2
        starts.add(values["t5_input"])
    assert len(starts) > 5


def test_spans_that_do_not_fit_concern_only_t5() -> None:
    assert failed(run("families", family="BERT", text="a b c")) == []


@pytest.mark.parametrize("family", ["BERT", "GPT", "T5"])
@pytest.mark.parametrize("rate", [0.05, 0.4])
@pytest.mark.parametrize("text", ["a b", "na na na na", " ".join("x" * 24), "我喜欢猫"])
def test_every_statement_holds_for_short_long_and_repeated_texts(family: str, rate: float, text: str) -> None:
    report = run("families", family=family, text=text, mask_rate=rate, spans="1 2")
    assert all(invariant.holds for invariant in report.invariants)


@pytest.mark.parametrize(
    ("params", "field", "sentence"),
    [
        (
            {"spans": "2 4; 9 11"},
            "spans",
            "The span 9 11 is not inside the text of 10 tokens: 0 ≤ start < end ≤ 10.",
        ),
        ({"spans": "3 3"}, "spans", "The span 3 3 is not inside the text of 10 tokens: 0 ≤ start < end ≤ 10."),
        (
            {"spans": "2 5; 4 6"},
            "spans",
            "The span 4 6 begins before the one in front of it ends, at 5; order them.",
        ),
        ({"spans": "2"}, "spans", "A span is two whole numbers, its start and its end, such as 2 4."),
        ({"spans": "1.5 3"}, "spans", "A span is two whole numbers, its start and its end, such as 2 4."),
        ({"text": "a [MASK] b"}, "text", "“[MASK]” is a mark of the families here; leave it out."),
        ({"text": "a"}, "text", "text has 1 token (“a”), but at least 2 are needed to compare them."),
    ],
)
def test_what_is_no_span_or_no_text_gets_one_sentence(params: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("families", family="T5", **params)
    assert [(problem.field, str(problem.message)) for problem in caught.value.problems] == [(field, sentence)]
