"""Reversing digits: the whole row has to pass through s_0 when there is no attention, and long rows do not fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.seq2seq import Seq2seqParams
from engine.contract.message import say
from engine.contract.report import Column, Curves, Event, Heatmap, Invariant, Panel, Report, Scalar, Series, Table
from engine.contract.tokens import axis_labels
from engine.labs.base import Context, array, close, not_checked
from engine.labs.seq2seq.model import Seq2seq, same_decoder
from engine.tasks.reverse import DIGITS, reverse
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

BATCH = 64
RATE = 5e-3
SHORTEST, LONGEST = 4, 10  # lengths trained on
TEST_LENGTHS = (4, 6, 8, 10, 12, 16)
TESTS = 200
SHOWN = 8  # length of the row in the map
BEGIN = DIGITS
ROWS_SUM = say("the weights of every digit written sum to 1")

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Tested:
    """Shares over the test rows of one length: rows right, digits right, mean weight on the right digit (NaN without
    attention), and how far the rows of weights are from 1."""

    length: int
    rows: float
    digits: float
    weight: float
    row_error: float


def run(params: Seq2seqParams, context: Context) -> Iterator[Event]:
    """Yield the growing loss curve, then accuracies by length."""
    model = _build(params, params.attention, context)
    trainer = _trainer(model)

    def batch(number: int) -> list[Batch]:
        generator = context.generator(f"data {number}")
        length = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=generator))
        return [reverse(generator, BATCH, length)]

    def curves() -> Curves:
        levels = [(say("guessing, ln {classes}", classes=DIGITS), math.log(DIGITS))]
        return loss_curves([(say("loss a digit"), trainer.losses)], params.reverse_steps, levels=levels)

    yield from train([trainer], batch, params.reverse_steps, check=context.check, panels=lambda: (curves(),))
    tested = []
    for length in TEST_LENGTHS:
        context.check()
        tested.append(_test(model, *reverse(context.generator(f"test {length}"), TESTS, length)))
    panels: list[Panel] = [curves(), _by_length(tested), _table(tested)]
    if params.attention:
        panels.append(_map(model, context))
    yield Report(tuple(panels), _values(tested, trainer), tuple(_invariants(tested, params, context)))


def _build(params: Seq2seqParams, attention: bool, context: Context) -> Seq2seq:
    return Seq2seq(
        DIGITS,
        DIGITS + 1,
        encoder="gru",
        hidden=params.reverse_hidden,
        attention=attention,
        longest=max(TEST_LENGTHS),
        generator=context.generator("weights"),
    )


def _trainer(model: Seq2seq) -> Trainer[Batch]:
    def loss(batch: Batch) -> Loss:
        digits, backwards = batch
        decoded = model(digits, torch.ones_like(digits, dtype=torch.bool), backwards, BEGIN)
        return classification(decoded.logits, backwards)

    return Trainer(model, loss, AdamW(model.parameters()), constant(RATE), clip=clipped_at(1.0))


def _test(model: Seq2seq, digits: Tensor, backwards: Tensor) -> Tested:
    length = digits.shape[1]
    written, weights = model.write(digits, torch.ones_like(digits, dtype=torch.bool), length, BEGIN)
    right = written == backwards  # (n, length)
    weight, row_error = math.nan, 0.0
    if weights is not None:
        weight = weights.flip(-1).diagonal(dim1=-2, dim2=-1).double().mean().item()  # t looks at n − 1 − t
        row_error = (weights.sum(-1) - 1).abs().max().item()
    return Tested(length, right.all(-1).double().mean().item(), right.double().mean().item(), weight, row_error)


def _by_length(tested: list[Tested]) -> Curves:
    lengths = array(torch.tensor([float(t.length) for t in tested], dtype=torch.float64))
    rows, digits = ([getattr(t, name) for t in tested] for name in ("rows", "digits"))
    series = tuple(
        Series(name, array(torch.tensor(shares, dtype=torch.float64)))
        for name, shares in ((say("whole rows right"), rows), (say("digits right"), digits))
    )
    title = say("Accuracy by length (trained on {shortest} to {longest})", shortest=SHORTEST, longest=LONGEST)
    return Curves("lengths", title, lengths, series, say("length"), say("share"))


def _table(tested: list[Tested]) -> Table:
    columns = [Column(say("length"), "d"), Column(say("whole rows right"), ".1%"), Column(say("digits right"), ".1%")]
    rows: list[tuple[float, ...]] = [(t.length, t.rows, t.digits) for t in tested]
    if not math.isnan(tested[0].weight):
        columns += [Column(say("weight on the right digit"), ".2f"), Column(say("uniform weight"), ".2f")]
        rows = [(*row, t.weight, 1 / t.length) for row, t in zip(rows, tested, strict=True)]
    title = say("{count} new rows of each length", count=TESTS)
    return Table("accuracy", title, tuple(columns), tuple(rows))


def _map(model: Seq2seq, context: Context) -> Heatmap:
    digits, _ = reverse(context.generator("map"), 1, SHOWN)
    written, weights = model.write(digits, torch.ones_like(digits, dtype=torch.bool), SHOWN, BEGIN)
    assert weights is not None
    return Heatmap(
        "alignment",
        say("Where each digit was looked for"),
        array(weights[0]),
        tuple(axis_labels([str(digit) for digit in written[0].tolist()])),
        tuple(axis_labels([str(digit) for digit in digits[0].tolist()])),
        say("written"),
        say("source"),
        0.0,
        1.0,
    )


def _values(tested: list[Tested], trainer: Trainer[Batch]) -> dict[str, Scalar]:
    values: dict[str, Scalar] = {"first_loss": trainer.losses[0], "last_loss": trainer.losses[-1]}
    for t in tested:
        values[f"accuracy_{t.length}"] = t.rows
        values[f"digits_{t.length}"] = t.digits
        values[f"weight_{t.length}"] = t.weight
    return values


def _invariants(tested: list[Tested], params: Seq2seqParams, context: Context) -> Iterator[Invariant]:
    if params.attention:
        yield close(ROWS_SUM, max(t.row_error for t in tested), 1e-6)
    else:
        yield not_checked(ROWS_SUM, say("there is no attention"))
    yield Invariant(
        say("with and without attention the decoder is the same but for the context it reads"),
        same_decoder(lambda attention: _build(params, attention, context)),
        say("all other weights have equal shapes"),
    )
