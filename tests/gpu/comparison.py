"""Runs a piece of work on two devices, compares every tensor it gives, and measures time and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

TOLERANCE = 1e-4

Work = Callable[[], Any]
"""Computes on the device that the tensors it holds are on, and returns tensors, traces or sequences of them."""

Build = Callable[["Place"], Work]


@dataclass(frozen=True)
class Place:
    """A device, and how the same draws get there: everything is drawn on the CPU and moved."""

    device: str
    generator: torch.Generator

    def normal(self, *shape: int) -> Tensor:
        """Return float32 draws of N(0, 1)."""
        return torch.randn(*shape, generator=self.generator).to(self.device)

    def tokens(self, vocabulary: int, *shape: int) -> Tensor:
        """Return token numbers."""
        return torch.randint(vocabulary, shape, generator=self.generator).to(self.device)

    def mask(self, *shape: int) -> Tensor:
        """Return a boolean mask, True = may attend; one row of it may attend to nothing."""
        mask = torch.rand(*shape, generator=self.generator) < 0.6
        mask[..., 0, :] = False
        return mask.to(self.device)

    def put(self, module: nn.Module) -> Any:
        """Return the module on the device."""
        return module.to(self.device)


@dataclass(frozen=True)
class Measured:
    """What a comparison found: the largest difference relative to max(1, |CPU|), and the device's cost of one pass."""

    difference: float
    tensors: int
    milliseconds: float
    bytes: int

    def line(self, name: str) -> str:
        """Return one line of the table that `pytest -rA` prints."""
        return (
            f"{name:28s} largest difference {self.difference:.1e} over {self.tensors:3d} tensors"
            f"  {self.milliseconds:9.2f} ms  {self.bytes / 2**20:8.1f} MiB"
        )


def compare(build: Build, device: str) -> Measured:
    """Compute on the CPU and on `device` from the same draws; the outputs and the gradients of every weight."""
    on_cpu, _, _ = _computed(build, "cpu")
    on_device, milliseconds, size = _computed(build, device)
    assert len(on_cpu) == len(on_device) > 0
    difference = max(differ(theirs, ours) for ours, theirs in zip(on_cpu, on_device, strict=True))
    return Measured(difference, len(on_cpu), milliseconds, size)


def differ(one: Tensor, reference: Tensor) -> float:
    """Return the largest |one − reference| / max(1, |reference|); equal infinities and NaN at one place differ by 0."""
    one, reference = one.detach().cpu().double(), reference.detach().cpu().double()
    assert one.shape == reference.shape
    same = (one == reference) | (one.isnan() & reference.isnan())
    error = ((one - reference).abs() / reference.abs().clamp_min(1)).masked_fill(same, 0.0)
    return error.max().item() if error.numel() else 0.0


def tensors(value: Any) -> Iterator[Tensor]:
    """Yield every tensor in a nest of sequences and traces, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from tensors(getattr(value, field.name))


def _computed(build: Build, device: str) -> tuple[list[Tensor], float, int]:
    """Return outputs and gradients, the milliseconds of a second pass, and the bytes it took beyond what was there."""
    place = Place(device, torch.Generator().manual_seed(7))
    work = build(place)
    found = list(tensors(work()))
    found += list(_gradients(work, found))
    before = _settle(device)
    start = time.perf_counter()
    again = list(tensors(work()))
    _synchronize(device)
    elapsed = (time.perf_counter() - start) * 1e3
    del again
    peak = torch.cuda.max_memory_allocated(device) - before if device.startswith("cuda") else 0
    return found, elapsed, peak


def _gradients(work: Work, outputs: list[Tensor]) -> Iterator[Tensor]:
    """Yield the gradient of the first output's sum of squares for every weight of the module that `work` calls."""
    module = getattr(work, "module", None)
    if not isinstance(module, nn.Module):
        return
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    gradients = torch.autograd.grad(outputs[0].float().square().sum(), weights, allow_unused=True)
    yield from (gradient for gradient in gradients if gradient is not None)


def _settle(device: str) -> int:
    _synchronize(device)
    if not device.startswith("cuda"):
        return 0
    torch.cuda.reset_peak_memory_stats(device)
    return torch.cuda.memory_allocated(device)


def _synchronize(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


class Call:
    """Calls a module on what it is given; the comparison then takes the gradients of its weights too."""

    def __init__(self, module: nn.Module, *inputs: Any, **options: Any) -> None:
        self.module = module
        self._inputs, self._options = inputs, options

    def __call__(self) -> Any:
        """Return what the module returns."""
        return self.module(*self._inputs, **self._options)
