"""What the recurrent layers share: the check of their input, and the traces of single steps put together in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import torch
from torch import Tensor

Step = TypeVar("Step")


def check_sequence(inputs: Tensor, width: int) -> None:
    """Raise ValueError unless `inputs` is (…, T, width) with at least one step."""
    if inputs.dim() < 2 or inputs.shape[-1] != width:
        raise ValueError(f"the inputs have shape {tuple(inputs.shape)}; this layer reads (…, T, {width})")
    if inputs.shape[-2] == 0:
        raise ValueError(f"the inputs have shape {tuple(inputs.shape)}: a sequence needs at least one step")


def check_state(name: str, state: Tensor, inputs: Tensor, hidden: int) -> None:
    """Raise ValueError unless `state` fits the inputs (…, T, d_in): shape (…, hidden)."""
    wanted = (*inputs.shape[:-2], hidden)
    if state.shape != wanted:
        raise ValueError(f"the {name} state has shape {tuple(state.shape)}; for these inputs it must be {wanted}")


def stack_steps(steps: Sequence[Step]) -> Step:
    """Turn the traces of T single steps, fields (…, H), into one trace with fields (…, T, H)."""
    kind: Any = type(steps[0])
    return kind(*(torch.stack([getattr(step, field.name) for step in steps], dim=-2) for field in fields(kind)))  # type: ignore[no-any-return]
