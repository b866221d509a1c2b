"""Accumulated gradients of twelve examples in three parts, weighted rightly and wrongly, against the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.message import say
from engine.contract.report import Column, Invariant, Report, Table
from engine.labs.base import Context, at_most, more_than, not_checked
from engine.layers.start import linear
from engine.training.accumulation import accumulate
from engine.training.losses import Loss, classification
from engine.training.optimiser import gradients

EXAMPLES, WIDTH, CLASSES = 12, 8, 4
EXACT = say("weighted by size, the parts give the gradient of the whole batch")
OFF = say("weighted by count, unequal parts give another gradient")

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Setting:
    """The model, twelve examples in one number type, and the same examples in parts."""

    model: nn.Linear
    whole: Batch
    parts: list[Batch]

    @property
    def distances(self) -> tuple[float, float]:
        """Relative distances to the gradient of the whole batch: weighted by count, weighted by size."""
        exact = gradient(self.model, [self.whole])
        means = torch.stack([gradient(self.model, [part]) for part in self.parts]).mean(0)
        return relative(means, exact), relative(gradient(self.model, self.parts), exact)


def run(params: TrainTricksParams, context: Context) -> Report:
    """Report how far the accumulated gradient is from that of the whole batch, in float64 and in float32."""
    sizes = [int(size) for size in params.sizes.split(",")]
    double, single = (_setting(context, sizes, dtype) for dtype in (torch.float64, torch.float32))
    by_count, by_size = double.distances
    by_count_32, by_size_32 = single.distances
    values = {
        "difference": by_count if params.weighting == "by count" else by_size,
        "by_count": by_count,
        "by_size": by_size,
        "by_count_float32": by_count_32,
        "by_size_float32": by_size_32,
    }
    return Report((_errors(values), _parts(double)), {**values}, tuple(_invariants(values, len(set(sizes)) == 1)))


def _setting(context: Context, sizes: list[int], dtype: torch.dtype) -> Setting:
    inputs = context.normal("data", EXAMPLES, WIDTH).to(dtype)  # (12, 8)
    targets = torch.randint(0, CLASSES, (EXAMPLES,), generator=context.generator("targets"))  # (12,)
    model = linear(WIDTH, CLASSES, generator=context.generator("weights")).to(dtype)
    parts = zip(inputs.split(sizes), targets.split(sizes), strict=True)  # type: ignore[no-untyped-call]
    return Setting(model, (inputs, targets), list(parts))


def gradient(model: nn.Linear, parts: Sequence[Batch]) -> Tensor:
    """Return the accumulated gradient of the mean loss, every part weighted by its size, as one vector."""
    parameters = list(model.parameters())
    accumulate(_loss(model), parts, parameters)
    return torch.cat([part.flatten() for part in gradients(parameters)])


def relative(one: Tensor, other: Tensor) -> float:
    """Return ‖one − other‖ / ‖other‖."""
    return float((one - other).norm() / other.norm())


def _loss(model: nn.Linear) -> Callable[[Batch], Loss]:
    def loss(batch: Batch) -> Loss:
        inputs, targets = batch
        return classification(model(inputs), targets)

    return loss


def _errors(values: dict[str, float]) -> Table:
    rows = (
        (say("by the number of parts"), values["by_count"], values["by_count_float32"]),
        (say("by the size of each part"), values["by_size"], values["by_size_float32"]),
    )
    columns = (Column(say("weighting")), Column(say("float64"), ".1e"), Column(say("float32"), ".1e"))
    return Table("errors", say("Distance to the gradient of the whole batch, relative"), columns, rows)


def _parts(setting: Setting) -> Table:
    """What each part weighs, and how long its own gradient is."""
    rows = []
    for number, part in enumerate(setting.parts, 1):
        size = len(part[0])
        norm = gradient(setting.model, [part]).norm().item()
        rows.append((number, size, size / EXAMPLES, 1 / len(setting.parts), norm))
    columns = (
        Column(say("part"), "d"),
        Column(say("examples"), "d"),
        Column(say("weight by size"), ".3f"),
        Column(say("weight by count"), ".3f"),
        Column(say("norm of its gradient"), ".3f"),
    )
    return Table("parts", say("The parts of a batch of {count}", count=EXAMPLES), columns, tuple(rows))


def _invariants(values: dict[str, float], alike: bool) -> Iterator[Invariant]:
    yield at_most(EXACT, values["by_size"], 1e-12)
    yield at_most(say("also in float32"), values["by_size_float32"], 1e-6)
    if alike:
        yield at_most(say("parts of equal size hide the difference"), values["by_count"], 1e-12)
        yield not_checked(OFF, say("the parts are equal"))
    else:
        yield more_than(OFF, values["by_count"], 0.01)
