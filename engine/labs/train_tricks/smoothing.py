"""Label smoothing: the target is no longer 1, so the best logits are finite (Szegedy et al., 2016).

q_k = (1 − ε) [k = y] + ε/K        ℒ = −Σ q_k ln p_k ≥ Ent(q), with equality at p = q
best gap between the logits        ln((1 − ε + ε/K) / (ε/K))
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.message import say
from engine.contract.report import Bars, Column, Curves, Invariant, Panel, Report, Series, Table
from engine.labs.base import Context, array, close, entropy, equal
from engine.layers.loss import cross_entropy

RIGHT = 0.7  # probability that the example gives the right class
LARGEST_GAP = 12.0
DRAWS = 50  # random logits that the invariants are checked on


def run(params: TrainTricksParams, context: Context) -> Report:
    """Report the targets, the losses of one example, the least loss and the best gap."""
    eps, classes = params.eps, params.K
    target = smoothed_target(eps, classes)  # (K,)
    example = example_probabilities(classes)  # (K,)
    right = torch.tensor(0)
    hard, _ = cross_entropy(example.log(), right)
    smoothed, _ = cross_entropy(example.log(), right, smoothing=eps)
    least = entropy(target).item() + 0.0  # without smoothing 0, not −0
    gap = best_gap(eps, classes)
    panels: tuple[Panel, ...] = (
        _table(target, example),
        _losses(hard.item(), smoothed.item(), least, gap),
        _by_gap(eps, classes, least),
        Bars("targets", say("Target q"), _classes(classes), array(target), say("probability")),
    )
    values = {
        "q_right": target[0].item(),
        "q_other": target[1].item(),
        "hard_loss": hard.item(),
        "smoothed_loss": smoothed.item(),
        "least_loss": least,
        "best_gap": gap,
    }
    return Report(panels, {**values}, tuple(_invariants(params, context, target, least)))


def smoothed_target(eps: float, classes: int) -> Tensor:
    """Return q (K,), class 0 being the right one."""
    target = torch.full((classes,), eps / classes, dtype=torch.float64)
    target[0] += 1 - eps
    return target


def example_probabilities(classes: int) -> Tensor:
    """Return p (K,): .7 for the right class, the rest shared, the first half of the others twice as much."""
    others = torch.ones(classes - 1, dtype=torch.float64)
    others[: classes // 2] = 2.0
    return torch.cat((torch.tensor([RIGHT], dtype=torch.float64), (1 - RIGHT) * others / others.sum()))


def best_gap(eps: float, classes: int) -> float:
    """Return the difference between the right logit and each other at which the loss is least; ∞ without smoothing."""
    share = eps / classes
    return math.log((1 - eps + share) / share) if share else math.inf


def _classes(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def _table(target: Tensor, example: Tensor) -> Table:
    hard = [1.0] + [0.0] * (len(target) - 1)
    rows = zip(_classes(len(target)), hard, target.tolist(), example.tolist(), strict=True)
    columns = (
        Column(say("class")),
        Column(say("hard target"), ".2f"),
        Column(say("smoothed target q"), ".3f"),
        Column(say("predicted p"), ".3f"),
    )
    return Table("distribution", say("Targets, and one prediction (class 1 is right)"), columns, tuple(rows))


def _losses(hard: float, smoothed: float, least: float, gap: float) -> Table:
    rows = (
        (say("hard loss −ln p"), hard),
        (say("smoothed loss −Σ q ln p"), smoothed),
        (say("least smoothed loss Ent(q)"), least),
        (say("best gap between the logits"), gap),
    )
    return Table("losses", say("Losses"), (Column(say("quantity")), Column(say("value"), ".4f")), rows)


def _by_gap(eps: float, classes: int, least: float) -> Curves:
    """Losses with the right logit ahead of all others by a gap: the hard one falls for ever, the smoothed one turns."""
    gaps = torch.linspace(0, LARGEST_GAP, 121, dtype=torch.float64)
    logits = torch.zeros(len(gaps), classes, dtype=torch.float64)
    logits[:, 0] = gaps
    right = torch.zeros(len(gaps), dtype=torch.long)
    hard = cross_entropy(logits, right)[1].losses
    smoothed = cross_entropy(logits, right, smoothing=eps)[1].losses
    series = (
        Series(say("hard loss"), array(hard)),
        Series(say("smoothed loss"), array(smoothed)),
        Series(say("Ent(q)"), array(torch.full_like(gaps, least))),
    )
    return Curves("gap", say("Loss by the gap between the logits"), array(gaps), series, say("gap"), say("loss"))


def _invariants(params: TrainTricksParams, context: Context, target: Tensor, least: float) -> Iterator[Invariant]:
    yield close(say("the smoothed target sums to 1"), target.sum().item() - 1, 1e-12)
    logits = 3 * context.normal("logits", DRAWS, params.K)  # (draws, K)
    right = torch.arange(DRAWS) % params.K
    ours, trace = cross_entropy(logits, right, smoothing=params.eps)
    below = (least - trace.losses).clamp_min(0)
    yield close(say("no smoothed loss is below Ent(q)"), below, 1e-12)
    at_best, _ = cross_entropy(target.clamp_min(1e-300).log(), torch.tensor(0), smoothing=params.eps)
    yield close(say("the prediction p = q reaches Ent(q)"), at_best.item() - least, 1e-12)
    theirs = F.cross_entropy(logits, right, label_smoothing=params.eps)
    yield equal(say("equals torch's cross_entropy with label smoothing"), ours, theirs, 1e-9)
