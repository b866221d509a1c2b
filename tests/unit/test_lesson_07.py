"""Lesson `seq2seq`: what it computes by hand, draws, or prints as code."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from engine.contract.message import say
from engine.contract.toy_translation import ENGLISH, Clause, read_clause
from engine.layers.additive_attention import AdditiveAttention
from tests.unit.lesson_texts import prose
from tests.unit.test_lessons import answer_of, code, lesson
from tutor.course.catalog import LANGUAGES
from tutor.course.model import Quiz
from tutor.text.width import cells

SENTENCE = "i took lamps in the station"


def test_the_lesson_has_everything_the_curriculum_asks_for() -> None:
    for language in LANGUAGES:
        found = lesson("seq2seq", language)
        questions = {block.id for step in found.steps for block in step.blocks if isinstance(block, Quiz)}
        assert questions == {*(f"Q07-{n}" for n in range(1, 6)), *(f"R07-{n}" for n in range(1, 4))}
        assert {lab.name for lab in found.labs} == {"additive-attention", "seq2seq"}
        assert all(step.predictions for step in found.steps if step.lab)


def test_the_exponentials_of_the_hand_case() -> None:
    powers = [math.exp(e) for e in (1, 2, 0)]
    assert [round(power, 3) for power in (*powers, sum(powers))] == [2.718, 7.389, 1.0, 11.107]


def test_the_attention_in_code_is_the_layers_and_the_same_in_both_languages() -> None:
    (snippet,) = code("seq2seq", "en")
    assert [snippet] == code("seq2seq", "zh")
    scope: dict[str, Any] = {"torch": torch}
    exec(snippet, scope)
    generator = torch.Generator().manual_seed(0)
    layer = AdditiveAttention(4, 6, 7, generator=generator, dtype=torch.float64)
    s = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    enc = torch.randn(3, 5, 6, generator=generator, dtype=torch.float64)
    W_s, W_h, v = layer.decoder_weight, layer.encoder_weight, layer.score_vector
    expected, trace = layer(s, enc)
    ctx, alpha = scope["additive_attention"](s, enc, W_s, W_h, v)
    assert torch.allclose(ctx, expected, atol=1e-12, rtol=0)
    assert torch.allclose(alpha, trace.weights, atol=1e-12, rtol=0)
    assert answer_of("Q07-3", "seq2seq") == tuple(str(n) for n in (*W_s.shape, *W_h.shape, ctx.shape[-1]))


def test_one_matrix_for_the_joined_vectors_is_two_matrices_added() -> None:
    generator = torch.Generator().manual_seed(0)
    W_s, W_h = torch.randn(7, 4, generator=generator), torch.randn(7, 6, generator=generator)
    s, h = torch.randn(4, generator=generator), torch.randn(6, generator=generator)
    joined = torch.cat([W_s, W_h], dim=1) @ torch.cat([s, h])
    assert torch.allclose(joined, W_s @ s + W_h @ h, atol=1e-5)


@pytest.mark.parametrize("bend", [True, False])
def test_without_tanh_the_weights_do_not_depend_on_the_decoder_state(bend: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    W_s, W_h, v = (torch.randn(size, generator=generator, dtype=torch.float64) for size in ((7, 4), (7, 6), (7,)))
    enc = torch.randn(5, 6, generator=generator, dtype=torch.float64)
    one, other = torch.randn(2, 4, generator=generator, dtype=torch.float64)

    def weights(s: torch.Tensor) -> torch.Tensor:
        a = W_s @ s + enc @ W_h.T
        return ((a.tanh() if bend else a) @ v).softmax(0)

    assert torch.allclose(weights(one), weights(other), atol=1e-12) is not bend


def test_from_all_zeros_the_scores_never_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    layer = AdditiveAttention(4, 6, 7, generator=generator)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    context, _ = layer(torch.randn(3, 4, generator=generator), torch.randn(3, 5, 6, generator=generator))
    torch.autograd.backward(context.square().sum())
    assert [parameter.grad.abs().max().item() for parameter in layer.parameters() if parameter.grad is not None] == [
        0.0,
        0.0,
        0.0,
    ]


def test_a_column_for_v_stops_numpy() -> None:
    np = pytest.importorskip("numpy")
    if tuple(int(part) for part in np.__version__.split(".")[:2]) < (2, 4):
        pytest.skip("older versions only warned")
    with pytest.raises(ValueError, match="sequence"):
        np.zeros(3)[0] = np.ones((4, 1)).T @ np.ones(4)


def test_the_second_weight_of_the_quiz() -> None:
    assert answer_of("Q07-2", "seq2seq") == pytest.approx(torch.tensor([0, math.log(3)]).softmax(0)[1].item())


def test_greedy_decoding_misses_what_a_beam_of_two_finds() -> None:
    first = {"A": 0.6, "B": 0.4}
    then = {"A": 0.4, "B": 0.9}
    assert max(first, key=lambda word: first[word]) == "A"
    whole = {word: round(first[word] * then[word], 2) for word in first}
    assert whole == {"A": 0.24, "B": 0.36}
    assert max(whole, key=lambda word: math.log(whole[word])) == "B"


def test_the_toy_language_is_as_described() -> None:
    clause = read_clause(say("sentence"), SENTENCE)
    assert isinstance(clause, Clause)
    assert (clause.chinese, len(clause.english)) == (["我", "在", "车站", "拿", "了", "灯"], 6)
    assert len(set(ENGLISH)) == 29
    for language in LANGUAGES:
        assert "29 " in prose("seq2seq", "blindfolded", language)


def test_the_drawn_map_is_the_gold_alignment() -> None:
    clause = read_clause(say("sentence"), SENTENCE)
    assert isinstance(clause, Clause)
    for language in LANGUAGES:
        drawn = prose("seq2seq", "bent-line", language).split("```text\n")[1].split("\n```")[0].split("\n")
        columns = [cells(drawn[0][: drawn[0].index(f" {word}") + 1]) for word in clause.english]
        rows = drawn[1:]
        assert [row.split()[0] for row in rows] == clause.chinese
        for row, source in zip(rows, clause.alignment, strict=True):
            if source >= 0:
                assert cells(row[: row.index("█")]) == columns[source]
            else:
                assert "█" not in row
