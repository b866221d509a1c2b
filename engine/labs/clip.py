"""Computes the lab `clip`: a ReLU net that starts at W_hh = scale · I, trained on RECALL twice from the same weights.

"Without" does not call the clipping at all. A huge limit is not the same: where the gradient is ∞, limit/∞ is 0, and
training freezes instead of failing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from engine.contract.labs.clip import ClipParams
from engine.contract.message import Message, say
from engine.contract.report import Cell, Column, Curves, Event, Invariant, Report, Scalar, Table
from engine.labs.base import Context, at_most, close, not_checked
from engine.layers.activations import relu
from engine.layers.rnn import RNN
from engine.layers.start import embedding, linear
from engine.tasks.recall import SYMBOLS, TOKENS, recall
from engine.training.clipping import Clip, clipped_at, gradient_norm
from engine.training.curves import loss_curves, over_steps
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.sgd import SGD
from engine.training.trainer import Trainer

HIDDEN = 32
BATCH = 32
LAST = 20  # steps whose mean loss is the final loss
WITH, WITHOUT = say("with clipping"), say("without clipping")

Batch = tuple[Tensor, Tensor]


class IdentityNet(nn.Module):
    """Embeds tokens, reads them with a ReLU layer that starts as scale · I, and names a symbol after the last."""

    def __init__(self, scale: float, generator: torch.Generator) -> None:
        super().__init__()
        self.embedding = embedding(TOKENS, 16, generator=generator)
        self.layer = RNN(16, HIDDEN, activation=relu, generator=generator)
        self.output = linear(HIDDEN, SYMBOLS, generator=generator)
        with torch.no_grad():
            self.layer.state_weight.copy_(scale * torch.eye(HIDDEN))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (batch, 4) of tokens (batch, T)."""
        states, _ = self.layer(self.embedding(tokens))  # (batch, T, H)
        logits: Tensor = self.output(states[:, -1])
        return logits


class CheckedClip:
    """Clips, and keeps what the lab states about it; all differences are taken in float64."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.clipped = self.untouched = 0
        self.largest_norm_after = self.largest_turn = self.largest_norm_error = self.largest_change = 0.0
        self._clip = clipped_at(limit)

    def __call__(self, gradients: Sequence[Tensor]) -> float:
        """Clip the gradients in place and return their norm before."""
        before = _flat(gradients)
        returned = self._clip(gradients)
        after = _flat(gradients)
        norm = before.norm().item()
        if not math.isfinite(returned):
            return returned  # nothing can be said about the direction of such a gradient
        self.largest_norm_error = max(self.largest_norm_error, abs(returned - norm) / max(norm, 1e-300))
        if returned > self.limit:
            self.clipped += 1
            self.largest_norm_after = max(self.largest_norm_after, after.norm().item())
            self.largest_turn = max(self.largest_turn, (after / after.norm() - before / norm).norm().item())
        else:
            self.untouched += 1
            self.largest_change = max(self.largest_change, (after - before).abs().max().item())
        return returned


def run(params: ClipParams, context: Context) -> Iterator[Event]:
    """Yield both loss curves while they grow, then the report."""
    clip = CheckedClip(params.clip)
    on, off = (_trainer(params, context, used) for used in (clip, gradient_norm))

    def curves() -> tuple[Curves, Curves]:
        return _curves(on, off, params)

    yield from train(
        (on, off), _batches(params, context), params.steps, check=context.check, panels=curves, finished=_is_nan
    )
    table = Table("runs", say("The two runs"), _columns(), (_row(WITH, on), _row(WITHOUT, off)))
    yield Report((*curves(), table), _values(on, off, clip), tuple(_invariants(clip)))


def _trainer(params: ClipParams, context: Context, clip: Clip) -> Trainer[Batch]:
    model = IdentityNet(params.scale, context.generator("weights"))

    def loss(batch: Batch) -> Loss:
        tokens, targets = batch
        return classification(model(tokens), targets)

    return Trainer(model, loss, SGD(model.parameters()), constant(params.lr), clip=clip)


def _batches(params: ClipParams, context: Context) -> Callable[[int], Sequence[Batch]]:
    return lambda number: [recall(context.generator(f"data {number}"), BATCH, params.D)]


def _is_nan(trainer: Trainer[Batch]) -> bool:
    return math.isnan(trainer.losses[-1])


def _flat(gradients: Sequence[Tensor]) -> Tensor:
    return torch.cat([gradient.flatten() for gradient in gradients]).double()


def _final_loss(trainer: Trainer[Batch]) -> float:
    last = trainer.losses[-LAST:]
    return sum(last) / len(last)


def _survived(trainer: Trainer[Batch]) -> int:
    return trainer.taken - _is_nan(trainer)


def _curves(on: Trainer[Batch], off: Trainer[Batch], params: ClipParams) -> tuple[Curves, Curves]:
    losses = loss_curves(
        [(WITH, on.losses), (WITHOUT, off.losses)],
        params.steps,
        levels=[(say("guessing, ln 4"), math.log(SYMBOLS))],
        logarithmic=True,
    )
    norms = over_steps(
        "norms",
        say("Norm of the gradient before clipping"),
        [(WITH, on.norms), (WITHOUT, off.norms)],
        params.steps,
        say("‖g‖"),
        levels=[(say("limit"), params.clip)],
        logarithmic=True,
    )
    return losses, norms


def _columns() -> tuple[Column, ...]:
    return (
        Column(say("training run")),
        Column(say("first ‖g‖"), ".3g"),
        Column(say("largest ‖g‖"), ".3g"),
        Column(say("final loss"), ".3g"),
        Column(say("steps survived"), "d"),
        Column(say("outcome")),
    )


def _row(name: Message, trainer: Trainer[Batch]) -> tuple[Cell, ...]:
    outcome = say("NaN at step {step}", step=trainer.taken) if _is_nan(trainer) else say("finite")
    return name, trainer.norms[0], max(_known(trainer.norms)), _final_loss(trainer), _survived(trainer), outcome


def _known(norms: Sequence[float]) -> list[float]:
    """The norms that are numbers; ∞ is one, and the largest."""
    return [norm for norm in norms if not math.isnan(norm)]


def _values(on: Trainer[Batch], off: Trainer[Batch], clip: CheckedClip) -> dict[str, Scalar]:
    return {
        "nan_step": off.taken if _is_nan(off) else 0,
        "survived_with": _survived(on),
        "survived_without": _survived(off),
        "first_norm": on.norms[0],
        "largest_norm_with": max(_known(on.norms)),
        "largest_norm_without": max(_known(off.norms)),
        "final_loss_with": _final_loss(on),
        "final_loss_without": _final_loss(off),
        "chance_loss": math.log(SYMBOLS),
        "clipped_steps": clip.clipped,
    }


def _invariants(clip: CheckedClip) -> Iterator[Invariant]:
    shortened = say("after clipping the norm is at most the limit")
    direction = say("clipping keeps the direction, on every step it acts")
    untouched = say("a gradient within the limit is not touched")
    if clip.clipped:
        yield at_most(shortened, clip.largest_norm_after, clip.limit * (1 + 1e-6))
        yield close(direction, clip.largest_turn, 1e-6)
    else:
        yield not_checked(shortened, say("no gradient was longer than the limit"))
        yield not_checked(direction, say("no gradient was longer than the limit"))
    if clip.untouched:
        yield close(untouched, clip.largest_change, 0.0)
    else:
        yield not_checked(untouched, say("every gradient was longer than the limit"))
    yield close(say("the norm that is returned is the one before"), clip.largest_norm_error, 1e-6)
