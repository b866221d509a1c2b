"""Where the residual and the norm stand around a sublayer F (attention or feed-forward).

    post_norm      LN(x + F(x))       Vaswani et al., 2017
    pre_norm       x + F(LN(x))       Xiong et al., On Layer Normalization in the Transformer Architecture, 2020
    no_residual    LN(F(x))           for study: what the residual is for
    no_norm        x + F(x)           for study: what the norm is for

Pre-norm leaves the stream x itself unnormalized, so a stack of such blocks ends with one more norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from torch import Tensor

Trace = TypeVar("Trace")
Sublayer = Callable[[Tensor], tuple[Tensor, Trace]]
Norm = Callable[[Tensor], tuple[Tensor, object]]


class Order(Protocol):
    """One of the four functions of this file."""

    def __call__(self, inputs: Tensor, sublayer: Sublayer[Trace], norm: Norm) -> tuple[Tensor, Trace]: ...


def post_norm(inputs: Tensor, sublayer: Sublayer[Trace], norm: Norm) -> tuple[Tensor, Trace]:
    """Return LN(x + F(x)), shape of x, and the trace of F."""
    output, trace = sublayer(inputs)
    normalized, _ = norm(inputs + output)
    return normalized, trace


def pre_norm(inputs: Tensor, sublayer: Sublayer[Trace], norm: Norm) -> tuple[Tensor, Trace]:
    """Return x + F(LN(x)), shape of x, and the trace of F."""
    normalized, _ = norm(inputs)
    output, trace = sublayer(normalized)
    return inputs + output, trace


def no_residual(inputs: Tensor, sublayer: Sublayer[Trace], norm: Norm) -> tuple[Tensor, Trace]:
    """Return LN(F(x)), shape of x, and the trace of F."""
    output, trace = sublayer(inputs)
    normalized, _ = norm(output)
    return normalized, trace


def no_norm(inputs: Tensor, sublayer: Sublayer[Trace], norm: Norm) -> tuple[Tensor, Trace]:
    """Return x + F(x), shape of x, and the trace of F; the norm stays unused."""
    output, trace = sublayer(inputs)
    return inputs + output, trace
