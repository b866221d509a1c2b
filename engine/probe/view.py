"""Reports on tensors in a file: a list of all of them, or one as statistics, picture and histogram."""

from __future__ import annotations

import difflib
import math
from itertools import pairwise
from pathlib import PurePath

import torch
from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.protocol import View
from engine.contract.report import Bars, Cell, Column, Curves, Heatmap, Note, Panel, Report, Scalar, Series, Table
from engine.labs.base import array
from engine.probe.refusal import Refused
from engine.probe.tensors import read

MOST_ROWS = 500
MOST_CELLS = 256  # rows and columns of a picture; a larger matrix is pooled
MOST_POINTS = 2000
BINS = 12


def view(request: View) -> Report:
    """Return the report on one tensor, or on all when there are several and none is named; raise Refused."""
    tensors = read(request.file, request.data)
    file = PurePath(request.file).name
    if request.name and request.name not in tensors:
        raise Refused(_unknown(file, request.name, tensors), "name")
    if request.name or len(tensors) == 1:
        name = request.name or next(iter(tensors))
        return Report(tuple(_tensor_panels(name, tensors[name])), _values(tensors[name]) | {"name": name})
    sizes: dict[str, Scalar] = {
        "tensors": len(tensors),
        "numbers": sum(tensor.numel() for tensor in tensors.values()),
        "bytes": sum(tensor.numel() * tensor.element_size() for tensor in tensors.values()),
    }
    return Report(tuple(_list_panels(file, tensors)), sizes)


def _unknown(file: str, name: str, tensors: dict[str, Tensor]) -> Message:
    if close := difflib.get_close_matches(name, tensors, n=1, cutoff=0.4):
        return say("There is no {name} in {file}; did you mean {close}?", name=name, file=file, close=close[0])
    return say("There is no tensor {name} in {file}; without a name all are listed.", name=name, file=file)


def _list_panels(file: str, tensors: dict[str, Tensor]) -> list[Panel]:
    rows: list[tuple[Cell, ...]] = []
    for name, tensor in list(tensors.items())[:MOST_ROWS]:
        numbers = _real(tensor)
        finite = numbers[numbers.isfinite()]
        extremes = (finite.min().item(), finite.mean().item(), finite.max().item()) if len(finite) else (None,) * 3
        rows.append((name, _shape(tensor), _dtype(tensor), *extremes, numbers.numel() - len(finite)))
    columns = (
        Column(say("name")),
        Column(say("shape")),
        Column(say("type")),
        Column(say("least"), ".4g"),
        Column(say("mean"), ".4g"),
        Column(say("largest"), ".4g"),
        Column(say("not finite"), ",d"),
    )
    title = say("{count:,} tensors in {file}", count=len(tensors), file=file)
    panels: list[Panel] = [Table("tensors", title, columns, tuple(rows))]
    if len(tensors) > MOST_ROWS:
        panels.append(Note("more", say("{count:,} more are not listed.", count=len(tensors) - MOST_ROWS)))
    panels.append(Note("name", say("One of them: --name {name}", name=next(iter(tensors)))))
    return panels


def _tensor_panels(name: str, tensor: Tensor) -> list[Panel]:
    panels: list[Panel] = [_statistics(name, tensor)]
    numbers = _real(tensor)
    if tensor.is_complex():
        panels.append(Note("complex", say("The numbers are complex; their absolute values are shown.")))
    if numbers.dim() >= 2 and numbers.numel():
        panels += _matrix(name, numbers)
    elif numbers.dim() == 1 and len(numbers) > 1:
        panels.append(_curve(name, numbers))
    if numbers.numel() > 1:
        panels += _histogram(numbers)
    return panels


def _statistics(name: str, tensor: Tensor) -> Table:
    values = _values(tensor)
    rows: list[tuple[Cell, ...]] = [(say("shape"), _shape(tensor)), (say("type"), _dtype(tensor))]
    labels = {
        "numbers": say("numbers"),
        "bytes": say("bytes"),
        "least": say("least"),
        "largest": say("largest"),
        "mean": say("mean"),
        "std": say("standard deviation"),
        "norm": say("norm"),
        "zeros": say("zeros"),
        "not_finite": say("not finite"),
    }
    for key, label in labels.items():
        value = values[key]
        rows.append((label, f"{value:,}" if isinstance(value, int) else f"{float(str(value)):.6g}"))
    return Table(
        "statistics", say("The tensor {name}", name=name), (Column(say("quantity")), Column(say("value"))), tuple(rows)
    )


def _values(tensor: Tensor) -> dict[str, Scalar]:
    """Statistics of the finite numbers; NaN where there are none."""
    numbers = _real(tensor).flatten()
    finite = numbers[numbers.isfinite()]
    none = math.nan
    return {
        "shape": [float(size) for size in tensor.shape],
        "numbers": tensor.numel(),
        "bytes": tensor.numel() * tensor.element_size(),
        "least": finite.min().item() if len(finite) else none,
        "largest": finite.max().item() if len(finite) else none,
        "mean": finite.mean().item() if len(finite) else none,
        "std": finite.std(correction=0).item() if len(finite) else none,
        "norm": finite.norm().item(),
        "zeros": int((numbers == 0).sum()),
        "not_finite": numbers.numel() - len(finite),
    }


def _matrix(name: str, numbers: Tensor) -> list[Panel]:
    """Show a matrix; of more dimensions the first matrix, and which one it is."""
    leading = numbers.shape[:-2]
    matrix = numbers.reshape(-1, *numbers.shape[-2:])[0]
    pooled, tall, wide = _pooled(matrix)
    finite = pooled[pooled.isfinite()]
    low, high = (finite.min().item(), finite.max().item()) if len(finite) else (0.0, 1.0)
    signed = low < 0 < high
    bound = max(abs(low), abs(high))
    shown = name + "".join("[0]" for _ in leading)
    title = say("The numbers of {name}", name=shown)
    if tall * wide > 1:
        title = say("{name}, every cell the mean of {tall} × {wide}", name=shown, tall=tall, wide=wide)
    heatmap = Heatmap(
        "matrix",
        title,
        array(pooled),
        (),
        (),
        say("rows"),
        say("columns"),
        -bound if signed else low,
        bound if signed else high,
        "diverging" if signed else "sequential",
    )
    count = math.prod(leading)
    if count == 1:
        return [heatmap]
    return [heatmap, Note("first", say("The first of {count:,} matrices is shown.", count=count))]


def _pooled(matrix: Tensor) -> tuple[Tensor, int, int]:
    """Return a matrix of at most 256 × 256, and how many rows and columns each of its cells is the mean of."""
    tall, wide = (math.ceil(size / MOST_CELLS) for size in matrix.shape)
    if tall * wide == 1:
        return matrix, 1, 1
    pool = torch.nn.functional.avg_pool2d
    return pool(matrix[None, None], (tall, wide), ceil_mode=True, count_include_pad=False)[0, 0], tall, wide


def _curve(name: str, numbers: Tensor) -> Curves:
    every = math.ceil(len(numbers) / MOST_POINTS)
    shown = numbers[::every]
    x = torch.arange(len(shown), dtype=torch.float64) * every
    title = say("The numbers of {name}", name=name)
    if every > 1:
        title = say("{name}, one number in {every}", name=name, every=every)
    return Curves("vector", title, array(x), (Series(say("value"), array(shown)),), say("position"), say("value"))


def _histogram(numbers: Tensor) -> list[Panel]:
    finite = numbers[numbers.isfinite()]
    if len(finite) < 2:
        return []
    low, high = finite.min().item(), finite.max().item()
    if low == high or not math.isfinite(high - low):
        return []
    counts = torch.histc(finite, BINS, low, high)
    edges = [low + (high - low) * step / BINS for step in range(BINS + 1)]
    labels = tuple(f"{a:.3g} … {b:.3g}" for a, b in pairwise(edges))
    return [Bars("histogram", say("How often numbers of a size occur"), labels, array(counts), say("count"))]


def _real(tensor: Tensor) -> Tensor:
    """Return the numbers as float64; complex ones by their absolute value."""
    return tensor.abs().double() if tensor.is_complex() else tensor.double()


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "scalar"


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
