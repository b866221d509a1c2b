"""Computes the lab `activations`: φ(x), φ′(x) by autograd, and how far the tanh form of GELU is from the exact one.

σ(x)       = 1 / (1 + e^(−x))
ReLU(x)    = max(0, x)
GELU(x)    = x Φ(x) = x/2 · (1 + erf(x/√2))                               Hendrycks and Gimpel, 2016
tanh form  = x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.activations import GELUS, ActivationsParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Event, Invariant, Panel, Report, Scalar, Series, Table
from engine.labs.base import Context, array, at_most, close, largest

POINTS = 241
PLACES = (-2.0, -1.0, 0.0, 1.0, 2.0)
GELU_ERROR = 4.8e-4  # no larger anywhere: the largest is 4.732e-4
STEP = 1e-5  # of the central difference: rounding and curvature both stay below 1e-9


def gelu_exact(x: Tensor) -> Tensor:
    """Return x Φ(x), elementwise."""
    return F.gelu(x)


def gelu_tanh(x: Tensor) -> Tensor:
    """Return the tanh form of GELU, elementwise."""
    return F.gelu(x, approximate="tanh")


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "gelu-exact": gelu_exact,
    "gelu-tanh": gelu_tanh,
}


@dataclass(frozen=True)
class Drawn:
    """The function on the grid: `x`, `value`, `slope` by autograd, and `error` between the two GELUs, each (241,)."""

    x: Tensor
    value: Tensor
    slope: Tensor
    error: Tensor


def run(params: ActivationsParams, context: Context) -> Iterator[Event]:
    """Yield the report of one function between two ends."""
    function = FUNCTIONS[params.fn]
    x = torch.linspace(params.xmin, params.xmax, POINTS, dtype=torch.float64)
    drawn = Drawn(x, function(x), slope(function, x), (gelu_exact(x) - gelu_tanh(x)).abs())
    panels: list[Panel] = [_curve(drawn, params.show), _table(params.fn)]
    yield Report(tuple(panels), _values(drawn, params.fn), tuple(_invariants(drawn, params.fn)))


def slope(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return the derivative of an elementwise function at every x, by autograd."""
    at = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(function(at).sum(), at)
    return gradient


def _curve(drawn: Drawn, show: str) -> Curves:
    views: dict[str, tuple[Message, Tensor]] = {
        "value": (say("value"), drawn.value),
        "derivative": (say("derivative"), drawn.slope),
        "gelu-error": (say("difference of the two GELUs"), drawn.error),
    }
    name, y = views[show]
    titles = {
        "value": say("The function"),
        "derivative": say("Its derivative"),
        "gelu-error": say("Exact GELU against its tanh form"),
    }
    return Curves("curve", titles[show], array(drawn.x), (Series(name, array(y)),), say("x"), name)


def _table(fn: str) -> Table:
    x = torch.tensor(PLACES, dtype=torch.float64)
    function = FUNCTIONS[fn]
    columns = [Column(say("x"), ".0f"), Column(say("value"), ".6f"), Column(say("derivative"), ".6f")]
    numbers = [x, function(x), slope(function, x)]
    if fn in GELUS:
        columns += [
            Column(say("GELU, exact"), ".6f"),
            Column(say("GELU, tanh form"), ".6f"),
            Column(say("difference"), ".1e"),
        ]
        numbers += [gelu_exact(x), gelu_tanh(x), gelu_tanh(x) - gelu_exact(x)]
    rows = tuple(zip(*(column.tolist() for column in numbers), strict=True))
    return Table("places", say("At five places"), tuple(columns), rows)


def _values(drawn: Drawn, fn: str) -> dict[str, Scalar]:
    """Lists are at x = −2, −1, 0, 1, 2; `…_at` is the x of the grid where it happens."""
    places = torch.tensor(PLACES, dtype=torch.float64)
    lowest, steepest, worst = drawn.value.argmin(), drawn.slope.argmax(), drawn.error.argmax()
    values: dict[str, Scalar] = {
        "value": FUNCTIONS[fn](places).tolist(),
        "derivative": slope(FUNCTIONS[fn], places).tolist(),
        "lowest": drawn.value[lowest].item(),
        "lowest_at": drawn.x[lowest].item(),
        "largest_derivative": drawn.slope[steepest].item(),
        "largest_derivative_at": drawn.x[steepest].item(),
        "monotone": bool((drawn.value.diff() >= 0).all()),
    }
    if fn in GELUS:
        values |= {
            "exact": gelu_exact(places).tolist(),
            "tanh_form": gelu_tanh(places).tolist(),
            "largest_error": drawn.error[worst].item(),
            "largest_error_at": abs(drawn.x[worst].item()),
        }
    return values


def _invariants(drawn: Drawn, fn: str) -> Iterator[Invariant]:
    x = drawn.x
    if fn == "sigmoid":
        yield close(say("σ(x) + σ(−x) = 1"), drawn.value + torch.sigmoid(-x) - 1, 1e-12)
        yield at_most(say("σ′ is at most 1/4"), drawn.slope.max().item(), 0.25)
    elif fn == "tanh":
        yield close(say("tanh x = 2 σ(2x) − 1"), drawn.value - (2 * torch.sigmoid(2 * x) - 1), 1e-12)
        yield at_most(say("tanh′ is at most 1"), drawn.slope.max().item(), 1.0)
    elif fn == "relu":
        yield close(say("left of 0 no gradient passes at all"), drawn.slope[x < 0], 0.0)
    else:
        yield at_most(say("the two GELUs never differ by more than 4.8e-4"), largest(drawn.error), GELU_ERROR)
    smooth = x if fn != "relu" else x[x.abs() >= 1e-4]  # at the kink the central difference is ½, autograd's choice 0
    function = FUNCTIONS[fn]
    central = (function(smooth + STEP) - function(smooth - STEP)) / (2 * STEP)
    yield close(say("autograd agrees with the central difference"), slope(function, smooth) - central, 1e-7)
