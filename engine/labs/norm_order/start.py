"""A stack before its first step: how large its activations are, and what gradient arrives at every layer.

The gradient is that of a cross-entropy over 10 classes by the second matrix of each layer's feed-forward network. The
activations are those of the residual stream, before any final norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.norm_order import NormOrderParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Invariant, Scalar, Series, Table
from engine.labs.base import Context, array, close, largest, more_than, not_checked
from engine.labs.norm_order.stack import LABELS, SUFFIXES, stack
from engine.layers.loss import cross_entropy
from engine.layers.start import linear

SENTENCES, TOKENS, CLASSES = 8, 16, 10
DEEP = 4  # from so many layers on the growth of the stream is sure to show
DEEPEST, EXPLODED = 24, 500.0


@dataclass(frozen=True)
class Start:
    """Of one order: gradient norm (L,) and root mean square of the activations (L,) of each layer, and the matrices it
    started from, flat."""

    gradients: Tensor
    activations: Tensor
    matrices: Tensor


def measure(order: str, params: NormOrderParams, context: Context) -> Start:
    """Return what one order starts with, float64; the draws do not depend on the order."""
    layers = stack(order, params.layers, params.d, context.generator("weights")).double()
    head = linear(params.d, CLASSES, generator=context.generator("head")).double()
    inputs = context.normal("inputs", SENTENCES, TOKENS, params.d)
    targets = torch.randint(CLASSES, (SENTENCES, TOKENS), generator=context.generator("targets"))
    states, trace = layers(inputs)
    context.check()
    loss, _ = cross_entropy(head(states), targets)
    second = [block.feed_forward.contract.weight for block in layers.blocks]  # type: ignore[union-attr]
    gradients = torch.autograd.grad(loss, second)  # type: ignore[arg-type]
    context.check()
    matrices = [parameter.detach().flatten() for parameter in layers.parameters() if parameter.dim() > 1]
    return Start(
        gradients=torch.stack([gradient.norm() for gradient in gradients]),
        activations=torch.stack([block.output.detach().square().mean().sqrt() for block in trace.blocks]),
        matrices=torch.cat(matrices),
    )


def panels(starts: Mapping[str, Start]) -> tuple[Curves, Curves, Table]:
    """Return both curves over the layers and the table of first and last layer."""
    gradients = {order: start.gradients for order, start in starts.items()}
    activations = {order: start.activations for order, start in starts.items()}
    return (
        _over_layers(
            "gradients",
            say("Gradient of each layer's second FFN matrix, before the first step"),
            gradients,
            say("norm"),
        ),
        _over_layers("activations", say("Size of the activations after each layer"), activations, say("RMS")),
        _table(starts),
    )


def _over_layers(id: str, title: Message, curves: Mapping[str, Tensor], label: Message) -> Curves:
    layers = max(len(curve) for curve in curves.values())
    series = tuple(Series(LABELS[order], array(curve)) for order, curve in curves.items())
    numbers = array(torch.arange(1, layers + 1, dtype=torch.float64))
    return Curves(id, title, numbers, series, say("layer"), label, log_y=True)


def _table(starts: Mapping[str, Start]) -> Table:
    columns = (
        Column(say("order")),
        Column(say("gradient, first layer"), ".2e"),
        Column(say("gradient, last layer"), ".2e"),
        Column(say("RMS, first layer"), ".4g"),
        Column(say("RMS, last layer"), ".4g"),
    )
    rows = (
        (LABELS[order], *(cell[end].item() for cell in (start.gradients, start.activations) for end in (0, -1)))
        for order, start in starts.items()
    )
    return Table("start", say("Before the first step"), columns, tuple(rows))


def values(starts: Mapping[str, Start]) -> dict[str, Scalar]:
    """Return gradients and root mean squares of first and last layer, one of each per order."""
    found: dict[str, Scalar] = {}
    for order, start in starts.items():
        name = SUFFIXES[order]
        found |= {
            f"gradient_first_{name}": start.gradients[0].item(),
            f"gradient_last_{name}": start.gradients[-1].item(),
            f"rms_first_{name}": start.activations[0].item(),
            f"rms_{name}": start.activations[-1].item(),
        }
    return found


def invariants(starts: Mapping[str, Start], params: NormOrderParams) -> Iterator[Invariant]:
    """Check what holds before the first step."""
    first, *others = starts.values()
    apart = max((largest(other.matrices - first.matrices) for other in others), default=0.0)
    yield close(say("all orders start from the same matrices"), apart, 0.0)
    finite = all(bool(start.gradients.isfinite().all()) for start in starts.values())
    count = len(starts) * params.layers
    yield Invariant(say("every gradient is finite"), finite, say("{count} norms", count=count))
    name = say("post-norm: the RMS is 1 after every layer")
    if "post" in starts:
        yield close(name, starts["post"].activations - 1, 1e-4)
    name = say("pre-norm: the stream grows from the first layer to the last")
    if "pre" in starts and params.layers < DEEP:
        yield not_checked(name, say("fewer than {layers} layers", layers=DEEP))
    elif "pre" in starts:
        activations = starts["pre"].activations
        yield more_than(name, activations[-1].item(), activations[0].item())
    if "no-norm" in starts and params.layers == DEEPEST:
        name = say("no norm: after {layers} layers the RMS has exploded", layers=DEEPEST)
        yield more_than(name, starts["no-norm"].activations[-1].item(), EXPLODED)
