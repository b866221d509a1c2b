"""One training run: a model, how it is judged, how it moves, and what has happened so far."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from engine.training.accumulation import accumulate
from engine.training.clipping import Clip, gradient_norm
from engine.training.losses import Loss
from engine.training.optimiser import Optimiser, gradients
from engine.training.schedules import Schedule

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Step:
    """One step: its number from 1, the loss before it, the norm of the gradient before clipping, the rate."""

    number: int
    loss: float
    norm: float
    rate: float


class Trainer(Generic[Batch]):
    """Takes steps; step n depends on the state and on n alone, so that a run can stop and go on anywhere.

    `clip` sees the gradients between backward and step. `noise` seeds the dropout of every step, when there is any.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Batch], Loss],
        optimiser: Optimiser,
        rate: Schedule,
        *,
        clip: Clip = gradient_norm,
        noise: int = 0,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimiser = optimiser
        self.rate = rate
        self.clip = clip
        self.noise = noise
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.seconds = 0.0  # spent in the steps of this session
        self._parameters = list(model.parameters())
        self._drops = any(isinstance(part, nn.Dropout) and part.p > 0 for part in model.modules())

    @property
    def taken(self) -> int:
        """The number of steps taken."""
        return len(self.losses)

    @property
    def weights(self) -> int:
        """The number of weights that are trained."""
        return sum(parameter.numel() for parameter in self._parameters)

    def step(self, parts: Sequence[Batch]) -> Step:
        """Take one step on a batch, given in one part or several."""
        begun = time.perf_counter()
        number = self.taken + 1
        if self._drops:
            torch.manual_seed(zlib.crc32(f"{self.noise} {number}".encode()))  # dropout draws from the global generator
        loss = accumulate(self.loss, parts, self._parameters)
        norm = self.clip(gradients(self._parameters))
        rate = self.rate(number)
        self.optimiser.step(rate)
        self.losses.append(loss)
        self.norms.append(norm)
        self.seconds += time.perf_counter() - begun
        return Step(number, loss, norm, rate)

    def state(self) -> dict[str, Tensor]:
        """Return everything the next steps depend on, and the history, by name."""
        return {
            **{f"model.{name}": tensor for name, tensor in self.model.state_dict().items()},
            **{f"optimiser.{name}": tensor for name, tensor in self.optimiser.state().items()},
            "losses": torch.tensor(self.losses, dtype=torch.float64),
            "norms": torch.tensor(self.norms, dtype=torch.float64),
        }

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go back to where `state` was taken."""
        self.model.load_state_dict(_under("model.", state))
        self.optimiser.load(_under("optimiser.", state))
        self.losses = state["losses"].tolist()
        self.norms = state["norms"].tolist()


def _under(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name[len(prefix) :]: tensor for name, tensor in state.items() if name.startswith(prefix)}
