"""Computes the lab `pe-race`: one Transformer block learns "name the symbol before", with five ways to know places."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from engine.contract.labs.pe_race import SCHEME_LABELS, SCHEMES, PeRaceParams
from engine.contract.message import Message, say
from engine.contract.report import Cell, Column, Curves, Event, Heatmap, Invariant, Panel, Report, Scalar, Series, Table
from engine.contract.tokens import axis_labels
from engine.labs.base import Context, array, equal, not_checked
from engine.layers.alibi import alibi
from engine.layers.attention import causal_mask
from engine.layers.encoder import EncoderBlock, EncoderBlockTrace
from engine.layers.feed_forward import FeedForward
from engine.layers.learned import LearnedPositions
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.normalization import LayerNorm
from engine.layers.positional import sinusoidal
from engine.layers.residual import pre_norm
from engine.layers.rotary import rotary
from engine.layers.start import embedding, linear
from engine.tasks.previous import SYMBOLS, previous
from engine.training.adamw import AdamW
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

WIDTH, HEADS, INNER = 32, 4, 64
STD = 0.7  # of embeddings and learned positions, the size of a sinusoid's entries
LONGEST = 72  # three times the longest text that can be trained on
BATCH = 64
RATE = 5e-3
FACTORS = (1.0, 1.5, 2.0, 3.0)
TESTS = 200
JUDGED = 8  # the last positions, whose accuracy counts
PERFECT = 0.95

Batch = tuple[Tensor, Tensor]


class Namer(nn.Module):
    """Embeddings, positions, one pre-norm block, and a symbol at every place."""

    def __init__(self, scheme: str, causal: bool, context: Context) -> None:
        super().__init__()
        generator = context.generator("weights")  # the same for all schemes
        self.scheme = scheme
        self.causal = causal
        self.embedding = embedding(SYMBOLS, WIDTH, std=STD, generator=generator)
        self.block = EncoderBlock(
            MultiHeadAttention(WIDTH, HEADS, generator=generator),
            FeedForward(WIDTH, INNER, generator=generator),
            lambda: LayerNorm(WIDTH),
            order=pre_norm,
        )
        self.norm = LayerNorm(WIDTH)
        self.output = linear(WIDTH, SYMBOLS, generator=generator)
        self.register_buffer("sinusoids", sinusoidal(LONGEST, WIDTH).float(), persistent=False)
        if scheme == "learned":
            table = context.generator("positions")
            self.positions = LearnedPositions(LONGEST, WIDTH, std=STD, generator=table)

    def forward(self, symbols: Tensor) -> tuple[Tensor, EncoderBlockTrace]:
        """Return the logits (batch, n, 10) of symbols (batch, n) and the trace of the block."""
        length = symbols.shape[-1]
        stream = self.embedding(symbols)  # (batch, n, width)
        if self.scheme == "sinusoid":
            stream = stream + self.get_buffer("sinusoids")[:length]
        if self.scheme == "learned":
            stream = stream + self.positions(length)
        mask = causal_mask(length) if self.causal else None
        rotate = rotary if self.scheme == "rotary" else None
        bias = alibi(HEADS, length, length).float() if self.scheme == "alibi" else None
        stream, trace = self.block(stream, mask, rotate=rotate, bias=bias)
        normalized, _ = self.norm(stream)
        return self.output(normalized), trace


@dataclass
class Runner:
    """A scheme in the race: its network and trainer, checksums of its batches, its accuracy at each length."""

    scheme: str
    model: Namer
    trainer: Trainer[Batch] = field(init=False)
    seen: list[int] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)

    def loss(self, batch: Batch) -> Loss:
        """Judge the network on a batch."""
        symbols, targets = batch
        self.seen.append(zlib.crc32(symbols.numpy().tobytes()))
        logits, _ = self.model(symbols)
        return classification(logits, targets)

    @property
    def name(self) -> Message:
        """What a learner reads."""
        return SCHEME_LABELS[SCHEMES.index(self.scheme)]


def run(params: PeRaceParams, context: Context) -> Iterator[Event]:
    """Yield the growing loss curves, then accuracies at four lengths and a map."""
    runners = [_runner(scheme, params, context) for scheme in params.schemes]
    starts = [_shared_weights(runner.model) for runner in runners]

    def batch(number: int) -> list[Batch]:
        return [previous(context.generator(f"data {number}"), BATCH, params.train_len)]

    def curves() -> Curves:
        lines = [(runner.name, runner.trainer.losses) for runner in runners]
        return loss_curves(lines, params.steps, levels=[_guessing()])

    yield from train(
        [runner.trainer for runner in runners], batch, params.steps, check=context.check, panels=lambda: (curves(),)
    )
    lengths = [int(factor * params.train_len) for factor in FACTORS]
    for runner in runners:
        context.check()
        runner.accuracies = [_accuracy(runner.model, *_tests(length, context)) for length in lengths]
    panels: tuple[Panel, ...] = (
        _table(runners, lengths),
        _by_length(runners, lengths),
        curves(),
        *_maps(runners, params, context),
    )
    yield Report(panels, _values(runners), tuple(_invariants(runners, starts, context)))


def _runner(scheme: str, params: PeRaceParams, context: Context) -> Runner:
    model = Namer(scheme, params.causal, context)
    runner = Runner(scheme, model)
    runner.trainer = Trainer(model, runner.loss, AdamW(model.parameters()), constant(RATE))
    return runner


def _shared_weights(model: Namer) -> Tensor:
    """Return a copy of all weights but the table of positions, as one vector."""
    shared = [
        tensor.detach().flatten() for name, tensor in model.named_parameters() if not name.startswith("positions")
    ]
    return torch.cat(shared)


def _tests(length: int, context: Context) -> Batch:
    return previous(context.generator(f"test {length}"), TESTS, length)


@torch.no_grad()
def _accuracy(model: Namer, symbols: Tensor, targets: Tensor) -> float:
    logits, _ = model(symbols)  # (tests, n, 10)
    return float((logits.argmax(-1) == targets)[:, -JUDGED:].double().mean())


def _guessing() -> tuple[Message, float]:
    return say("guessing, ln {classes}", classes=SYMBOLS), math.log(SYMBOLS)


def _table(runners: Sequence[Runner], lengths: Sequence[int]) -> Table:
    columns = [Column(say("n = {length}", length=length), ".2f") for length in lengths]
    rows: list[tuple[Cell, ...]] = [(runner.name, *runner.accuracies) for runner in runners]
    title = say("Accuracy on the last {judged} positions (guessing: {chance:.2f})", judged=JUDGED, chance=1 / SYMBOLS)
    return Table("race", title, (Column(say("position encoding")), *columns), tuple(rows))


def _by_length(runners: Sequence[Runner], lengths: Sequence[int]) -> Curves:
    numbers = array(torch.tensor(lengths, dtype=torch.float64))
    series = [Series(r.name, array(torch.tensor(r.accuracies, dtype=torch.float64))) for r in runners]
    series.append(Series(say("guessing"), array(torch.full((len(lengths),), 1 / SYMBOLS, dtype=torch.float64))))
    title = say("Accuracy by length (trained on {length})", length=lengths[0])
    return Curves("lengths", title, numbers, tuple(series), say("length"), say("accuracy"))


@torch.no_grad()
def _maps(runners: Sequence[Runner], params: PeRaceParams, context: Context) -> Iterator[Heatmap]:
    """For every scheme the head that looks most at the symbol before."""
    symbols, _ = previous(context.generator("map"), 1, params.train_len)
    labels = tuple(axis_labels([str(symbol) for symbol in symbols[0].tolist()]))
    for runner in runners:
        _, trace = runner.model(symbols)
        weights = trace.attention.weights[0]  # (heads, n, n)
        looking = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1)  # (heads,)
        head = int(looking.argmax())
        title = say(
            "{scheme}: head {head}, {share:.0%} on the symbol before",
            scheme=runner.name,
            head=head + 1,
            share=looking[head].item(),
        )
        yield Heatmap(
            f"map-{runner.scheme}",
            title,
            array(weights[head]),
            labels,
            labels,
            say("queries"),
            say("keys"),
            0.0,
            1.0,
            group="maps",
        )


def _values(runners: Sequence[Runner]) -> dict[str, Scalar]:
    """The four accuracies of every scheme, one by one too, and which stay perfect at 1.5 times the length."""
    values: dict[str, Scalar] = {"chance": 1 / SYMBOLS}
    for runner in runners:
        values[runner.scheme] = runner.accuracies
        for name, accuracy in zip(("x1", "x1_5", "x2", "x3"), runner.accuracies, strict=True):
            values[f"{runner.scheme}_{name}"] = accuracy
    values["perfect_at_1_5"] = ", ".join(r.scheme for r in runners if r.accuracies[1] >= PERFECT) or "none"
    return values


def _invariants(runners: Sequence[Runner], starts: Sequence[Tensor], context: Context) -> Iterator[Invariant]:
    yield Invariant(
        say("all schemes start from the same weights"),
        all(torch.equal(start, starts[0]) for start in starts),
        say("{count} weights, the tables of positions apart", count=len(starts[0])),
    )
    yield Invariant(
        say("all schemes saw the same batches"),
        len({tuple(runner.seen) for runner in runners}) == 1,
        say("checksums of the first {count} batches", count=len(runners[0].seen)),
    )
    name = say("rotary positions keep the length of every vector")
    if all(runner.scheme != "rotary" for runner in runners):
        yield not_checked(name, say("rotary is not in the race"))
    else:
        vectors = context.normal("vectors", HEADS, LONGEST, WIDTH // HEADS).float()
        yield equal(name, rotary(vectors).norm(dim=-1), vectors.norm(dim=-1), 1e-5)
