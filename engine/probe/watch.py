"""Watches a forward pass: what every submodule returns, and every tensor that looks like a map of attention."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

MOST_MAPS = 24
ROUNDING = 1e-3


@dataclass(frozen=True)
class AttentionMap:
    """Weights (maps, n, n), and the submodule in which they arose ("" for the whole)."""

    where: str
    weights: Tensor


@dataclass
class Seen:
    """What a forward pass showed: output shapes by submodule, maps as they came, and how many were left out."""

    shapes: dict[str, str] = field(default_factory=dict)
    maps: list[AttentionMap] = field(default_factory=list)
    left_out: int = 0


@contextmanager
def watching(module: nn.Module | None) -> Iterator[Seen]:
    """Watch what runs inside; attention is computed step by step there, so that its weights appear."""
    seen = Seen()
    inside = [""]  # the submodules that are running, innermost last
    hooks = []
    for name, part in module.named_modules() if module else ():
        hooks.append(part.register_forward_pre_hook(lambda *_, name=name: inside.append(name)))
        hooks.append(part.register_forward_hook(lambda _, __, output, name=name: _leave(seen, inside, name, output)))
    try:
        with sdpa_kernel(SDPBackend.MATH), _Recorder(seen, inside):
            yield seen
    finally:
        for hook in hooks:
            hook.remove()


def looks_like_attention(tensor: Tensor) -> bool:
    """Tell whether the last two dimensions are equal, at least 2, and rows sum to 1, or to 0 if they see nothing."""
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2 or not tensor.numel():
        return False
    if not tensor.is_floating_point() or bool((tensor < -ROUNDING).any()):
        return False
    sums = tensor.sum(-1)
    ones, zeros = (sums - 1).abs() < ROUNDING, sums.abs() < ROUNDING
    return bool((ones | zeros).all()) and bool(ones.any())


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Looks at the result of every operation of torch."""

    def __init__(self, seen: Seen, inside: list[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seen = seen
        self._inside = inside
        self._known: set[tuple[tuple[int, ...], int]] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in _tensors(result):
            self._look(tensor.detach())
        return result

    def _look(self, tensor: Tensor) -> None:
        if not looks_like_attention(tensor):
            return
        weights = tensor.reshape(-1, *tensor.shape[-2:]).float()  # (maps, n, n)
        mark = (tuple(weights.shape), zlib.crc32(weights.contiguous().numpy().tobytes()))
        if mark in self._known:
            return  # the same, seen again through a view
        self._known.add(mark)
        if sum(len(known.weights) for known in self._seen.maps) + len(weights) > MOST_MAPS:
            self._seen.left_out += len(weights)
        else:
            self._seen.maps.append(AttentionMap(self._inside[-1], weights.clone()))

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # spares the import of torch's compiler


def _leave(seen: Seen, inside: list[str], name: str, output: Any) -> None:
    inside.pop()
    seen.shapes[name] = ", ".join(str(tuple(tensor.shape)) for tensor in _tensors(output))


def _tensors(output: Any) -> list[Tensor]:
    if isinstance(output, Tensor):
        return [output]
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        return [tensor for item in output for tensor in _tensors(item)]
    return []


def first_tensor(output: Any) -> Tensor | None:
    """Return the first floating-point tensor of what a call returned."""
    return next((tensor for tensor in _tensors(output) if tensor.is_floating_point()), None)
