"""The training loop: one or several trainers on the same batches, telling how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from engine.contract.message import say
from engine.contract.report import Panel, Partial, Progress
from engine.training.checkpoint import Checkpoint
from engine.training.trainer import Trainer

Batch = TypeVar("Batch")

TELL_EVERY = 0.1  # seconds between two events
SAVE_EVERY = 5.0  # seconds between two checkpoints


def _never(trainer: Trainer[Any]) -> bool:
    return False


def train(
    trainers: Sequence[Trainer[Batch]],
    draw: Callable[[int], Sequence[Batch]],
    steps: int,
    *,
    check: Callable[[], None],
    panels: Callable[[], tuple[Panel, ...]] = tuple,
    finished: Callable[[Trainer[Batch]], bool] = _never,
    checkpoint: Checkpoint | None = None,
) -> Iterator[Progress | Partial]:
    """Take up to `steps` steps with every trainer, side by side; yield progress, and `panels()` when there are any.

    `draw(n)` returns the batch of step n = 1, 2, … in its parts, by n alone. A trainer that is `finished` after a step
    takes no more. `check` is asked before every step: it raises when the run is to end, and waits while it is paused.
    With a checkpoint the run goes on from there and saves itself every few seconds, when it is stopped and at the end.
    """
    if checkpoint is not None:
        checkpoint.load(trainers)
    pace = _Pace(len(trainers) * steps, sum(t.taken for t in trainers))
    saved = 0.0
    try:
        while running := [t for t in trainers if t.taken < steps and not (t.taken and finished(t))]:
            number = min(t.taken for t in running) + 1
            with pace:
                parts = draw(number)
            for trainer in running:
                if trainer.taken < number:  # a run that was stopped in the middle of a step has some ahead
                    check()
                    with pace:
                        trainer.step(parts)
            pace.done = sum(t.taken if t in running and not finished(t) else steps for t in trainers)
            if checkpoint is not None and pace.spent - saved > SAVE_EVERY:
                checkpoint.save(trainers)
                saved = pace.spent
            if pace.due():
                text = say("step {step:,} of {steps:,}", step=number, steps=steps)
                yield Progress(pace.fraction, text, pace.seconds_left)
                if shown := panels():
                    yield Partial(shown)
    finally:
        if checkpoint is not None:
            checkpoint.save(trainers)


class _Pace:
    """How far a run is and how long it still takes; only the time inside `with pace` counts, a pause does not."""

    def __init__(self, total: int, before: int) -> None:
        self.total = total
        self.before = before  # steps of an earlier session
        self.done = before
        self.spent = 0.0
        self._told = 0.0
        self._begun = 0.0

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.spent += time.perf_counter() - self._begun

    def due(self) -> bool:
        """Tell whether it is time for the next event."""
        if self.spent - self._told < TELL_EVERY:
            return False
        self._told = self.spent
        return True

    @property
    def fraction(self) -> float:
        """The share of all steps that is done; steps that a finished trainer does not take count as done."""
        return self.done / self.total

    @property
    def seconds_left(self) -> float:
        """The seconds the remaining steps take at the pace of this session."""
        return self.spent / (self.done - self.before) * (self.total - self.done)
