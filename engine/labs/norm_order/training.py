"""Training one stack per order, side by side on the same batches: say a row of 12 symbols backwards (REVERSE)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from engine.contract.labs.norm_order import RATES, TRAINED_LAYERS, NormOrderParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Invariant, Scalar, Table
from engine.labs.base import Context, at_most, more_than, not_checked
from engine.labs.norm_order.stack import LABELS, SUFFIXES, stack
from engine.layers.learned import LearnedPositions
from engine.layers.start import embedding, linear
from engine.training.adamw import AdamW
from engine.training.curves import loss_curves
from engine.training.losses import Loss, classification
from engine.training.schedules import constant, warmed_up
from engine.training.trainer import Trainer

SYMBOLS, LENGTH, WIDTH, BATCH = 12, 12, 32, 32
CHANCE = math.log(SYMBOLS)
LEARNED = CHANCE / 2
FULL_STEPS = 150

Batch = tuple[Tensor, Tensor]


class Reverser(nn.Module):
    """Embedding and learned positions, both N(0, 1), a stack in one of the orders, and a linear map to the symbols."""

    def __init__(self, order: str, context: Context) -> None:
        super().__init__()
        generator = context.generator("reverser")
        self.table = embedding(SYMBOLS, WIDTH, generator=generator)
        self.positions = LearnedPositions(LENGTH, WIDTH, generator=generator)
        self.output = linear(WIDTH, SYMBOLS, generator=generator)
        self.stack = stack(order, TRAINED_LAYERS, WIDTH, generator)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (batch, n, 12) of tokens (batch, n)."""
        states, _ = self.stack(self.table(tokens) + self.positions(tokens.shape[1]))  # (batch, n, width)
        logits: Tensor = self.output(states)
        return logits


def trainer(order: str, params: NormOrderParams, context: Context) -> Trainer[Batch]:
    """Return what trains one order with Adam."""
    model = Reverser(order, context)

    def loss(batch: Batch) -> Loss:
        tokens, reversed_tokens = batch
        return classification(model(tokens), reversed_tokens)

    rate = warmed_up(constant(RATES[params.lr]), params.warmup)
    return Trainer(model, loss, AdamW(model.parameters()), rate)


def draw(number: int, context: Context) -> Batch:
    """Return the batch of step `number`, tokens and targets (32, 12)."""
    tokens = torch.randint(SYMBOLS, (BATCH, LENGTH), generator=context.generator(f"batch {number}"))
    return tokens, tokens.flip(1)


def losses(runs: Mapping[str, Trainer[Batch]], steps: int) -> Curves:
    """Return the losses so far."""
    lines = [(LABELS[order], run.losses) for order, run in runs.items()]
    return loss_curves(lines, steps, levels=[(say("guessing, ln 12"), CHANCE)], logarithmic=True)


def panels(runs: Mapping[str, Trainer[Batch]], steps: int) -> tuple[Curves, Table]:
    """Return the losses as curves, and where they ended."""
    columns = (
        Column(say("order")),
        Column(say("last loss"), ".4g"),
        Column(say("highest loss"), ".4g"),
        Column(say("learned")),
    )
    rows = (
        (LABELS[order], run.losses[-1], max(run.losses), say("yes") if _learned(run) else say("no"))
        for order, run in runs.items()
    )
    title = say("After {steps} steps of 8 layers (guessing costs {chance:.3f})", steps=steps, chance=CHANCE)
    return losses(runs, steps), Table("trained", title, columns, tuple(rows))


def _learned(run: Trainer[Batch]) -> bool:
    return run.losses[-1] < LEARNED


def values(runs: Mapping[str, Trainer[Batch]]) -> dict[str, Scalar]:
    """Return the last and the highest loss of each order, and whether the last is below half of guessing."""
    found: dict[str, Scalar] = {"chance_loss": CHANCE}
    for order, run in runs.items():
        name = SUFFIXES[order]
        found |= {
            f"loss_{name}": run.losses[-1],
            f"highest_loss_{name}": max(run.losses),
            f"learned_{name}": _learned(run),
        }
    return found


def invariants(runs: Mapping[str, Trainer[Batch]], params: NormOrderParams) -> Iterator[Invariant]:
    """Check what training at 0.006 does to each order; the course measured it for 150 steps."""
    names: dict[tuple[str, int], tuple[Message, float]] = {
        ("post", 0): (say("post-norm does not learn without warm-up"), 2.3),
        ("post", 50): (say("post-norm learns with warm-up"), LEARNED),
        ("pre", 0): (say("pre-norm learns"), 0.1),
        ("no-residual", 0): (say("without residual it does not learn"), 2.3),
        ("no-norm", 0): (say("without norm the loss rises above guessing"), 3.0),
    }
    for order, run in runs.items():
        if (order, params.warmup) not in names:
            continue
        name, bound = names[order, params.warmup]
        if params.lr != "6e-3" or params.steps < FULL_STEPS:
            yield not_checked(name, say("measured at 0.006 for {steps} steps", steps=FULL_STEPS))
        elif order == "no-norm":
            yield more_than(name, max(run.losses), bound)
        elif bound > LEARNED:
            yield more_than(name, run.losses[-1], bound)
        else:
            yield at_most(name, run.losses[-1], bound)
