"""How layers get their first weights: drawn from a generator of their own, so that a seed fixes them.

A layer built on the meta device has shapes and no numbers: nothing is drawn, and a billion weights cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

Draw = Callable[..., nn.Parameter]
Module = TypeVar("Module", bound=nn.Module)


def uniform(
    bound: float,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Draw:
    """Return a function that makes a parameter of the shape it is given, uniform on [−bound, bound]."""

    def draw(*shape: int) -> nn.Parameter:
        return nn.Parameter(fill_uniform(torch.empty(*shape, dtype=dtype, device=device), bound, generator))

    return draw


def linear(inputs: int, outputs: int, *, bias: bool = True, generator: torch.Generator | None = None) -> nn.Linear:
    """Return torch's Linear with torch's start, weights and bias uniform on ±1/√inputs, drawn from `generator`."""
    layer = _empty(nn.Linear(inputs, outputs, bias=bias, device="meta"))
    with torch.no_grad():
        for parameter in layer.parameters():
            fill_uniform(parameter, 1 / math.sqrt(inputs), generator)
    return layer


def embedding(rows: int, width: int, *, std: float = 1.0, generator: torch.Generator | None = None) -> nn.Embedding:
    """Return a table (rows, width) of normal draws with the given standard deviation."""
    # From numbers that are there: nn.Embedding on the meta device would draw, for which torch loads its compiler (2 s).
    weight = fill_normal(torch.empty(rows, width), std, generator)
    table: nn.Embedding = nn.Embedding.from_pretrained(weight, freeze=False)  # type: ignore[no-untyped-call]
    return table


def fill_uniform(tensor: Tensor, bound: float, generator: torch.Generator | None) -> Tensor:
    """Fill `tensor` in place with uniform draws from ±bound and return it."""
    return tensor if tensor.is_meta else tensor.uniform_(-bound, bound, generator=generator)


def fill_normal(tensor: Tensor, std: float, generator: torch.Generator | None) -> Tensor:
    """Fill `tensor` in place with normal draws of mean 0 and return it."""
    return tensor if tensor.is_meta else tensor.normal_(0.0, std, generator=generator)


def draw_normal(module: nn.Module, std: float, generator: torch.Generator | None) -> None:
    """Draw every matrix of `module` anew, normal with the given standard deviation, and set every bias to 0."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() > 1:
                fill_normal(parameter, std, generator)
            elif name.endswith("bias"):
                parameter.zero_()


def _empty(module: Module) -> Module:
    """Give a meta module memory on the default device without torch's own draws, which would come from its global
    generator. (Its `to_empty` would import sympy for that, which takes a second.)"""
    for name, parameter in list(module.named_parameters(recurse=False)):
        setattr(module, name, nn.Parameter(torch.empty(parameter.shape, dtype=parameter.dtype)))
    return module
