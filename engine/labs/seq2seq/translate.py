"""The toy translation: train on four fifths of the sentences, test on the rest, compare the map with the gold one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.seq2seq import SENTENCE, Seq2seqParams
from engine.contract.message import Message, say
from engine.contract.report import (
    Column,
    Curves,
    Detail,
    Event,
    Heatmap,
    Invariant,
    Note,
    Panel,
    Report,
    Scalar,
    Table,
)
from engine.contract.tokens import axis_labels
from engine.contract.toy_translation import Clause, read_clause
from engine.labs.base import Context, array, close, not_checked
from engine.labs.seq2seq.model import Seq2seq, same_decoder
from engine.tasks.draws import Draws
from engine.tasks.split import held_out
from engine.tasks.translation import BEGIN, END, LONGEST_SOURCE, LONGEST_TARGET, SOURCE, TARGET, draw_clauses
from engine.tasks.vocabulary import PAD
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

BATCH = 32
TESTS = 200
EXAMPLES = 5  # translations shown
RATE = 1e-2
LIMIT = LONGEST_TARGET + 1  # greedy decoding may write one word too many before it is stopped
ROWS_SUM = say("the weights of every word written sum to 1")
PADDING = say("padding has no weight")


@dataclass(frozen=True)
class Batch:
    """Clauses as numbers: source (n, S), which of it is real (n, S), target with its end mark (n, T)."""

    source: Tensor
    kept: Tensor
    target: Tensor


@dataclass(frozen=True)
class Tested:
    """What came of the test sentences: texts written, whether each is right, and the map's agreement with gold."""

    written: list[list[str]]
    right: list[bool]
    tokens: float
    agreement: float  # share of words whose largest weight is on their gold word; NaN without attention
    gold_mass: float  # mean weight on the gold word; NaN without attention
    missed_by_one: float  # of the largest weights off their gold word, the share one word away; NaN if there are none
    row_error: float
    padding_weight: float
    longest: int


def run(params: Seq2seqParams, context: Context) -> Iterator[Event]:
    """Yield the growing loss curve, then translations, accuracies and the alignment map."""
    model = _build(params, params.attention, context)
    trainer = _trainer(model)
    seen: set[str] = set()

    def batch(number: int) -> list[Batch]:
        clauses = draw_clauses(Draws(context.generator(f"data {number}")), BATCH, test=False)
        seen.update(" ".join(clause.english) for clause in clauses)
        return [encode(clauses)]

    def curves() -> Curves:
        return loss_curves([(say("loss a word"), trainer.losses)], params.steps, levels=[_guessing()])

    yield from train([trainer], batch, params.steps, check=context.check, panels=lambda: (curves(),))
    clauses = draw_clauses(Draws(context.generator("test")), TESTS, test=True)
    tested = _test(model, clauses)
    clause = read_clause(SENTENCE.label, params.sentence)
    assert isinstance(clause, Clause)  # the parameters were checked
    panels = [curves(), _accuracy_table(tested), _examples(clauses, tested), *own_panels(model, clause)]
    values = _values(tested, trainer, " ".join(translate(model, clause)[0]))
    leaked = seen & {" ".join(clause.english) for clause in clauses}
    yield Report(tuple(panels), values, tuple(_invariants(tested, len(seen), len(leaked), params, context)))


def encode(clauses: Sequence[Clause]) -> Batch:
    """Return clauses as numbers."""
    source = SOURCE.encode([clause.english for clause in clauses])
    target = TARGET.encode([[*clause.chinese, END] for clause in clauses])
    return Batch(source, source != PAD, target)


def translate(model: Seq2seq, clause: Clause) -> tuple[list[str], Tensor | None]:
    """Return the words the model writes for a clause, and its weights (words, S)."""
    batch = encode([clause])
    ids, weights = model.write(batch.source, batch.kept, LIMIT, TARGET.ids[BEGIN], TARGET.ids[END])
    words = _until_end(ids[0].tolist())
    return words, None if weights is None else weights[0, : len(words)]


def _build(params: Seq2seqParams, attention: bool, context: Context) -> Seq2seq:
    return Seq2seq(
        len(SOURCE),
        len(TARGET),
        encoder=params.encoder,
        hidden=params.hidden,
        attention=attention,
        longest=LONGEST_SOURCE,
        generator=context.generator("weights"),
    )


def _trainer(model: Seq2seq) -> Trainer[Batch]:
    def loss(batch: Batch) -> Loss:
        decoded = model(batch.source, batch.kept, batch.target, TARGET.ids[BEGIN])
        return classification(decoded.logits, batch.target, ignored=PAD)

    return Trainer(model, loss, AdamW(model.parameters()), constant(RATE), clip=clipped_at(1.0))


def _guessing() -> tuple[Message, float]:
    classes = len(TARGET)
    return say("guessing, ln {classes}", classes=classes), math.log(classes)


def _until_end(ids: Sequence[int]) -> list[str]:
    words = TARGET.decode(ids)
    return words[: words.index(END)] if END in words else words


@torch.no_grad()
def _test(model: Seq2seq, clauses: Sequence[Clause]) -> Tested:
    batch = encode(clauses)
    ids, written_weights = model.write(batch.source, batch.kept, LIMIT, TARGET.ids[BEGIN], TARGET.ids[END])
    written = [_until_end(row) for row in ids.tolist()]
    right = [text == clause.chinese for text, clause in zip(written, clauses, strict=True)]
    length = min(ids.shape[1], batch.target.shape[1])
    counted = batch.target != PAD  # (n, T)
    hits = ((ids[:, :length] == batch.target[:, :length]) & counted[:, :length]).sum().item()
    agreement = gold_mass = missed_by_one = math.nan
    row_error = padding_weight = 0.0
    if written_weights is not None:
        row_error = (written_weights.sum(-1) - 1).abs().max().item()
        padding_weight = written_weights.masked_select(~batch.kept[:, None]).sum().item()
        decoded = model(batch.source, batch.kept, batch.target, TARGET.ids[BEGIN])
        agreement, gold_mass, missed_by_one = _against_gold(decoded.weights, clauses)
    return Tested(
        written,
        right,
        hits / int(counted.sum()),
        agreement,
        gold_mass,
        missed_by_one,
        row_error,
        padding_weight,
        ids.shape[1],
    )


def _against_gold(weights: Tensor, clauses: Sequence[Clause]) -> tuple[float, float, float]:
    """Compare teacher-forced weights (n, T, S) with the gold alignments.

    Return the share of right peaks, the mean gold weight, and the share of wrong peaks that are one word away.
    """
    places = [
        (number, t, source)
        for number, clause in enumerate(clauses)
        for t, source in enumerate(clause.alignment)
        if source >= 0
    ]
    number, t, gold = torch.tensor(places).T
    rows = weights[number, t]  # (words, S)
    off = (rows.argmax(-1) - gold).abs()  # (words,)
    beside = (off[off > 0] == 1).double().mean().item()  # the mean of nothing is NaN
    return (off == 0).double().mean().item(), rows.gather(-1, gold[:, None]).double().mean().item(), beside


def _accuracy_table(tested: Tested) -> Table:
    rows: list[tuple[Message, float]] = [
        (say("whole sentences right"), sum(tested.right) / len(tested.right)),
        (say("words right"), tested.tokens),
    ]
    if not math.isnan(tested.agreement):
        rows += [
            (say("largest weight on the gold word"), tested.agreement),
            (say("weight on the gold word, mean"), tested.gold_mass),
        ]
    title = say("On {count} sentences that were kept from training", count=len(tested.right))
    return Table("accuracy", title, (Column(say("quantity")), Column(say("share"), ".1%")), tuple(rows))


def _examples(clauses: Sequence[Clause], tested: Tested) -> Table:
    columns = (Column(say("English")), Column(say("written")), Column(say("right translation")))
    rows = tuple(
        (" ".join(clause.english), " ".join(text), " ".join(clause.chinese))
        for clause, text in zip(clauses[:EXAMPLES], tested.written, strict=False)
    )
    return Table("examples", say("Test sentences"), columns, rows)


def own_panels(model: Seq2seq, clause: Clause) -> list[Panel]:
    """Show a learner's sentence: what is written, what was right, and where the decoder looked."""
    words, weights = translate(model, clause)
    known = say("a test sentence, never trained on") if held_out(clause.english) else say("of the training part")
    text = say(
        "{english} → {written} ({kind}; right: {right})",
        english=" ".join(clause.english),
        written=" ".join(words),
        kind=known,
        right=" ".join(clause.chinese),
    )
    panels: list[Panel] = [Note("translation", text)]
    if weights is not None and words:
        panels.insert(0, _map(clause, words, weights))
    return panels


def _map(clause: Clause, words: list[str], weights: Tensor) -> Heatmap:
    details: tuple[Detail, ...] = ()
    if words == clause.chinese:
        gold = torch.zeros_like(weights)
        for t, source in enumerate(clause.alignment):
            if source >= 0:
                gold[t, source] = 1.0
        details = (Detail(say("gold"), array(gold)),)
    return Heatmap(
        "alignment",
        say("Where each word was looked for"),
        array(weights),
        tuple(axis_labels(words)),
        tuple(axis_labels(clause.english)),
        say("written"),
        say("source"),
        0.0,
        1.0,
        details=details,
    )


def _values(tested: Tested, trainer: Trainer[Batch], translation: str) -> dict[str, Scalar]:
    return {
        "sentence_accuracy": sum(tested.right) / len(tested.right),
        "word_accuracy": tested.tokens,
        "alignment_agreement": tested.agreement,
        "gold_weight": tested.gold_mass,
        "missed_by_one": tested.missed_by_one,
        "translation": translation,
        "first_loss": trainer.losses[0],
        "last_loss": trainer.losses[-1],
    }


def _invariants(tested: Tested, seen: int, leaked: int, params: Seq2seqParams, context: Context) -> Iterator[Invariant]:
    if params.attention:
        yield close(ROWS_SUM, tested.row_error, 1e-6)
        yield close(PADDING, tested.padding_weight, 0.0)
    else:
        yield not_checked(ROWS_SUM, say("there is no attention"))
        yield not_checked(PADDING, say("there is no attention"))
    yield Invariant(
        say("writing stops at the end mark, or at the limit"),
        tested.longest <= LIMIT and all(END not in text for text in tested.written),
        say("longest text: {longest} words, limit {limit}", longest=tested.longest, limit=LIMIT),
    )
    yield Invariant(
        say("with and without attention the decoder is the same but for the context it reads"),
        same_decoder(lambda attention: _build(params, attention, context)),
        say("all other weights have equal shapes"),
    )
    yield Invariant(
        say("no test sentence was trained on"),
        leaked == 0,
        say("{leaked} of {count} training sentences", leaked=leaked, count=seen),
    )
