"""The lab `seq2seq`: with attention the toy translation is learned and aligned, without it is not; rows reversed."""

from __future__ import annotations

import math

import pytest
import torch

from engine.contract.labs.seq2seq import Seq2seqParams
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Note, Report
from engine.contract.toy_translation import Clause
from engine.labs import run
from engine.labs.seq2seq.model import Seq2seq, same_decoder
from engine.labs.seq2seq.translate import _against_gold, own_panels
from engine.tasks.draws import Draws
from engine.tasks.translation import SOURCE, TARGET, draw_clauses
from tests.engine.reports import failed, heatmap, number, table

GENERATOR = torch.Generator().manual_seed(0)


@pytest.fixture(scope="module")
def report() -> Report:
    return run("seq2seq", steps=120)


def model(encoder: str = "embedding", *, attention: bool = True) -> Seq2seq:
    return Seq2seq(12, 9, encoder=encoder, hidden=6, attention=attention, longest=8, generator=GENERATOR)


def test_with_attention_held_out_sentences_are_translated(report: Report) -> None:
    assert number(report, "sentence_accuracy") >= 0.95
    assert report.values["translation"] == "我 在 车站 拿 了 灯"
    assert number(report, "alignment_agreement") >= 0.8
    assert all(invariant.holds is True for invariant in report.invariants)
    assert number(report, "first_loss") == pytest.approx(math.log(31), abs=0.3)


def test_the_map_bends_where_the_word_order_does(report: Report) -> None:
    alignment = heatmap(report, "alignment")
    assert alignment.row_labels == ("我", "在", "车站", "拿", "了", "灯")
    assert alignment.column_labels == ("i", "took", "lamps", "in", "the", "station")
    rows = alignment.values.rows()
    assert [sum(row) for row in rows] == pytest.approx([1.0] * 6, abs=1e-6)
    gold = alignment.details[0].values.rows()
    assert [row.index(1.0) if 1.0 in row else -1 for row in gold] == [0, 3, 5, 1, -1, 2]
    looked = [row.index(max(row)) for row in rows]
    assert sum(one == other.index(1.0) for one, other in zip(looked, gold, strict=True) if 1.0 in other) >= 4


def test_peaks_off_their_gold_word_are_told_by_how_far_they_are() -> None:
    clause = Clause("i", "took", some=False, object="lamps", place="station")
    looked = [0, 4, 5, 1, 0, 5]  # gold: 0 3 5 1 − 2, so one peak is a word away and one is three
    weights = torch.eye(6)[looked][None]
    assert _against_gold(weights, [clause]) == pytest.approx((3 / 5, 3 / 5, 1 / 2))  # agreement, mass, one away


def test_examples_show_what_was_written_beside_what_is_right(report: Report) -> None:
    rows = table(report, "examples").rows
    assert len(rows) == 5
    assert all(written == right for _, written, right in rows)
    shown = {str(row[0]): row[1] for row in table(report, "accuracy").rows}
    assert shown["whole sentences right"] == report.values["sentence_accuracy"]


def test_without_attention_the_same_training_is_not_enough() -> None:
    report = run("seq2seq", attention=False, steps=120)
    assert number(report, "sentence_accuracy") <= 0.4
    assert math.isnan(number(report, "alignment_agreement"))
    assert [invariant.holds for invariant in report.invariants] == [None, None, True, True, True]
    assert "alignment" not in [panel.id for panel in report.panels]


@pytest.mark.parametrize("test", [True, False])
def test_a_sentence_is_told_to_be_of_the_test_or_of_the_training_part(test: bool) -> None:
    (clause,) = draw_clauses(Draws(torch.Generator().manual_seed(0)), 1, test=test)
    untrained = Seq2seq(
        len(SOURCE), len(TARGET), encoder="gru", hidden=4, attention=False, longest=8, generator=GENERATOR
    )
    (note,) = own_panels(untrained, clause)
    assert isinstance(note, Note)
    kind = "a test sentence, never trained on" if test else "of the training part"
    text = str(note.text)
    assert text.startswith(" ".join(clause.english) + " → ")
    assert text.endswith(f" ({kind}; right: {' '.join(clause.chinese)})")


def test_what_is_outside_the_grammar_is_refused_with_what_could_stand_there() -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("seq2seq", sentence="i took pictures")
    (problem,) = caught.value.problems
    assert problem.field == "sentence"
    assert str(problem.message) == (
        "sentence has “pictures” as word 3; there goes one of: books, cats, maps, tea, lamps, kites."
    )


def test_a_form_shows_only_what_the_task_uses() -> None:
    shown = [name for name in Seq2seqParams.__struct_fields__ if Seq2seqParams(task="reverse").relevant(name)]
    assert shown == ["task", "attention", "reverse_hidden", "reverse_steps"]
    shown = [name for name in Seq2seqParams.__struct_fields__ if Seq2seqParams().relevant(name)]
    assert shown == ["task", "attention", "encoder", "hidden", "steps", "sentence"]


@pytest.mark.parametrize("encoder", ["embedding", "gru", "bi-gru"])
@pytest.mark.parametrize("attention", [True, False])
def test_padding_changes_nothing_that_is_written(encoder: str, attention: bool) -> None:
    built = model(encoder, attention=attention)
    tokens = torch.tensor([[3, 5, 7]])
    padded = torch.tensor([[3, 5, 7, 0, 0]])
    targets = torch.tensor([[2, 4, 1]])
    plain = built(tokens, tokens != 0, targets, 0)
    with_padding = built(padded, padded != 0, targets, 0)
    assert torch.allclose(plain.logits, with_padding.logits, atol=1e-6)
    if attention:
        assert torch.equal(with_padding.weights[..., 3:], torch.zeros(1, 3, 2))


def test_writing_greedily_is_teacher_forcing_with_ones_own_words() -> None:
    built = model()
    tokens = torch.tensor([[3, 5, 7], [1, 2, 4]])
    kept = torch.ones_like(tokens, dtype=torch.bool)
    written, weights = built.write(tokens, kept, 5, 0)
    forced = built(tokens, kept, written, 0)
    assert torch.equal(forced.logits.argmax(-1), written)
    assert weights is not None
    assert torch.allclose(forced.weights, weights, atol=1e-6)


def test_only_the_input_of_the_decoder_knows_whether_there_is_attention() -> None:
    assert same_decoder(lambda attention: model(attention=attention))
    assert not same_decoder(lambda attention: model("gru" if attention else "embedding", attention=True))


def test_reversing_is_tested_by_length_and_starts_from_guessing() -> None:
    report = run("seq2seq", task="reverse", reverse_steps=100, reverse_hidden=24)
    assert [row[0] for row in table(report, "accuracy").rows] == [4, 6, 8, 10, 12, 16]
    assert number(report, "first_loss") == pytest.approx(math.log(11), abs=0.2)
    assert number(report, "digits_4") > 0.3  # guessing gets .1
    assert number(report, "digits_16") < number(report, "digits_4")
    assert all(invariant.holds is True for invariant in report.invariants)
    assert heatmap(report, "alignment").values.shape == (8, 8)


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("encoder", ["embedding", "gru", "bi-gru"])
def test_at_the_defaults_attention_makes_the_difference_in_every_seed(encoder: str, seed: int) -> None:
    looking = run("seq2seq", encoder=encoder, seed=seed)
    assert number(looking, "sentence_accuracy") >= 0.95
    blind = run("seq2seq", encoder=encoder, attention=False, seed=seed)
    assert number(blind, "sentence_accuracy") <= 0.4
    assert failed(looking) == failed(blind) == []


@pytest.mark.extreme
def test_a_wider_state_holds_more_of_a_sentence_but_attention_stays_ahead() -> None:
    for hidden, most in ((16, 0.2), (48, 0.8)):  # at 48 eight seeds without attention gave .12 to .59
        assert number(run("seq2seq", hidden=hidden), "sentence_accuracy") >= 0.95
        assert number(run("seq2seq", hidden=hidden, attention=False), "sentence_accuracy") < most


@pytest.mark.extreme
def test_without_attention_long_rows_fail_first() -> None:
    looking, blind = (run("seq2seq", task="reverse", attention=attention) for attention in (True, False))
    assert number(looking, "accuracy_8") > number(blind, "accuracy_8") + 0.3
    assert number(blind, "accuracy_4") > number(blind, "accuracy_8") + 0.3
    assert number(blind, "accuracy_10") < 0.2
