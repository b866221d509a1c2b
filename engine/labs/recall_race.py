"""Computes the lab `recall-race`: recurrent layers learn RECALL side by side, from the same batches."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from engine.contract.labs.recall_race import MODEL_LABELS, MODELS, RecallRaceParams
from engine.contract.message import Message, say
from engine.contract.report import Bars, Column, Curves, Event, Invariant, Report, Scalar, Table
from engine.labs.base import Context, array, close
from engine.layers.bidirectional import Recurrent
from engine.layers.gru import GRU
from engine.layers.lstm import LSTM
from engine.layers.rnn import RNN
from engine.layers.start import embedding, linear
from engine.tasks.recall import SYMBOLS, TOKENS, recall
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

EMBEDDING = 16
BATCH = 64
TESTS = 500
SOLVED = 0.05  # the loss at which a model leaves the race
CLEARLY = 0.1  # difference of accuracies that 500 tests do not give by chance

Batch = tuple[Tensor, Tensor]


class Reader(nn.Module):
    """Embeds tokens, reads them with a recurrent layer, and names a symbol after the last."""

    def __init__(self, kind: str, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.embedding = embedding(TOKENS, EMBEDDING, generator=generator)
        self.layer = _layer(kind, hidden, generator)
        self.output = linear(hidden, SYMBOLS, generator=generator)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (batch, 4) of tokens (batch, T)."""
        states, _ = self.layer(self.embedding(tokens))  # (batch, T, H)
        logits: Tensor = self.output(states[:, -1])
        return logits


@dataclass
class Runner:
    """A model in the race: its trainer, checksums of the batches it has seen, its accuracy at the end."""

    kind: str
    model: Reader
    trainer: Trainer[Batch] = field(init=False)
    seen: list[int] = field(default_factory=list)
    accuracy: float = math.nan

    def loss(self, batch: Batch) -> Loss:
        """Judge the model on a batch."""
        tokens, targets = batch
        self.seen.append(zlib.crc32(tokens.numpy().tobytes()))
        return classification(self.model(tokens), targets)

    @property
    def name(self) -> Message:
        """What a learner reads."""
        return MODEL_LABELS[MODELS.index(self.kind)]

    @property
    def steps_to_solve(self) -> int | None:
        """The number of the step whose loss was below .05, or None."""
        return self.trainer.taken if _solved(self.trainer) else None


def run(params: RecallRaceParams, context: Context) -> Iterator[Event]:
    """Yield the growing loss curves, then accuracies on new sequences."""
    runners = [_runner(kind, params, context) for kind in params.models]

    def batch(number: int) -> list[Batch]:
        return [recall(context.generator(f"data {number}"), BATCH, params.D)]

    def curves() -> Curves:
        lines = [(runner.name, runner.trainer.losses) for runner in runners]
        return loss_curves(lines, params.steps, levels=[(say("guessing, ln 4"), math.log(SYMBOLS))])

    yield from train(
        [runner.trainer for runner in runners],
        batch,
        params.steps,
        check=context.check,
        panels=lambda: (curves(),),
        finished=_solved,
    )
    tokens, targets = recall(context.generator("test"), TESTS, params.D)
    for runner in runners:
        context.check()
        runner.accuracy = _accuracy(runner.model, tokens, targets)
    panels = (curves(), _accuracies(runners), _table(runners), _seconds(runners))
    yield Report(panels, _values(runners), tuple(_invariants(runners)))


def _layer(kind: str, hidden: int, generator: torch.Generator) -> Recurrent[object]:
    if kind == "rnn":
        return RNN(EMBEDDING, hidden, generator=generator)
    if kind == "gru":
        return GRU(EMBEDDING, hidden, generator=generator)
    bias = {"lstm": None, "lstm+bias1": 1.0, "lstm+bias3": 3.0}[kind]
    return LSTM(EMBEDDING, hidden, forget_bias=bias, generator=generator)


def _runner(kind: str, params: RecallRaceParams, context: Context) -> Runner:
    model = Reader(kind, params.hidden, context.generator("weights"))  # the three LSTMs differ in their bias alone
    runner = Runner(kind, model)
    runner.trainer = Trainer(model, runner.loss, AdamW(model.parameters()), constant(params.lr), clip=clipped_at(1.0))
    return runner


def _solved(trainer: Trainer[Batch]) -> bool:
    return trainer.losses[-1] < SOLVED


@torch.no_grad()
def _accuracy(model: Reader, tokens: Tensor, targets: Tensor) -> float:
    return float((model(tokens).argmax(-1) == targets).double().mean())


def _accuracies(runners: Sequence[Runner]) -> Bars:
    shares = torch.tensor([runner.accuracy for runner in runners], dtype=torch.float64)
    return Bars(
        "accuracy",
        say("Accuracy on {count} new sequences (guessing: {chance:.2f})", count=TESTS, chance=1 / SYMBOLS),
        tuple(runner.name for runner in runners),
        array(shares),
        say("accuracy"),
    )


def _table(runners: Sequence[Runner]) -> Table:
    columns = (
        Column(say("model")),
        Column(say("accuracy"), ".3f"),
        Column(say("steps to solve"), "d"),
        Column(say("last loss"), ".3f"),
        Column(say("weights to learn"), ",d"),
    )
    rows = tuple(
        (runner.name, runner.accuracy, runner.steps_to_solve, runner.trainer.losses[-1], runner.trainer.weights)
        for runner in runners
    )
    return Table("race", say("The race"), columns, rows)


def _seconds(runners: Sequence[Runner]) -> Table:
    """Times differ from run to run; they have a panel of their own, so that all others can be compared."""
    columns = (Column(say("model")), Column(say("seconds"), ".1f"), Column(say("ms a step"), ".1f"))
    rows = tuple((r.name, r.trainer.seconds, 1000 * r.trainer.seconds / r.trainer.taken) for r in runners)
    return Table("seconds", say("Time spent on learning"), columns, rows)


def _values(runners: Sequence[Runner]) -> dict[str, Scalar]:
    """accuracy_…, steps_… (0 when not solved) of every model; whether the LSTM is clearly ahead of the RNN."""
    values: dict[str, Scalar] = {"chance": 1 / SYMBOLS, "chance_loss": math.log(SYMBOLS)}
    for runner in runners:
        name = runner.kind.replace("+", "_")
        values[f"accuracy_{name}"] = runner.accuracy
        values[f"steps_{name}"] = runner.steps_to_solve or 0
    accuracy = {runner.kind: runner.accuracy for runner in runners}
    if "rnn" in accuracy and "lstm" in accuracy:
        values["lstm_beats_rnn"] = accuracy["lstm"] > accuracy["rnn"] + CLEARLY
    return values


def _invariants(runners: Sequence[Runner]) -> Iterator[Invariant]:
    yield Invariant(
        say("every accuracy lies between 0 and 1"),
        all(0 <= runner.accuracy <= 1 for runner in runners),
        say(
            "from {low:.3f} to {high:.3f}",
            low=min(runner.accuracy for runner in runners),
            high=max(runner.accuracy for runner in runners),
        ),
    )
    shared = min(len(runner.seen) for runner in runners)
    yield Invariant(
        say("all models saw the same batches"),
        len({tuple(runner.seen[:shared]) for runner in runners}) == 1,
        say("checksums of the first {count} batches", count=shared),
    )
    starts = [runner.trainer.losses[0] - math.log(SYMBOLS) for runner in runners]
    yield close(say("every loss starts near that of guessing"), max(starts, key=abs), 0.2)
