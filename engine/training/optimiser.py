"""What the training loop asks of an optimiser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from torch import Tensor


class Optimiser(Protocol):
    """Moves parameters along their gradients: AdamW or SGD."""

    def step(self, rate: float) -> None:
        """Take one step at this learning rate, from the gradients the parameters hold."""

    def state(self) -> dict[str, Tensor]:
        """Return what it remembers between steps, by name."""

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Remember again what `state` returned."""


def gradients(parameters: Iterable[Tensor]) -> list[Tensor]:
    """Return the gradients of all parameters; raise ValueError when one has none."""
    found = []
    for parameter in parameters:
        if parameter.grad is None:
            raise ValueError(f"a parameter of shape {tuple(parameter.shape)} has no gradient: no loss depends on it")
        found.append(parameter.grad)
    return found


def named(name: str, tensors: Sequence[Tensor]) -> dict[str, Tensor]:
    """Return the tensors as name.0, name.1, …."""
    return {f"{name}.{number}": tensor for number, tensor in enumerate(tensors)}


def copy_named(name: str, tensors: Sequence[Tensor], state: Mapping[str, Tensor]) -> None:
    """Copy name.0, name.1, … of `state` into the tensors."""
    for number, tensor in enumerate(tensors):
        tensor.copy_(state[f"{name}.{number}"])
