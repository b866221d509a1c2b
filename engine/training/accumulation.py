"""The gradient of a batch that is computed in parts, because it would not fit at once.

    ∇ℒ = Σ_m (n_m/N) ∇ℒ_m          N = Σ n_m targets in all, ℒ_m the mean loss of part m

Dividing by the number of parts instead is right only when all n_m are equal: otherwise the small parts count too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch import nn

from engine.training.losses import Loss
from engine.training.optimiser import gradients

Batch = TypeVar("Batch")


def accumulate(loss: Callable[[Batch], Loss], parts: Iterable[Batch], parameters: Sequence[nn.Parameter]) -> float:
    """Leave in the parameters the gradient of the mean loss over all parts, and return that mean."""
    for parameter in parameters:
        parameter.grad = None
    total, count = 0.0, 0
    for part in parts:
        partial = loss(part)
        partial.total.backward()  # type: ignore[no-untyped-call]
        total += partial.total.item()
        count += partial.count
    torch._foreach_div_(gradients(parameters), float(count))
    return total / count
