"""One net, one example: every gradient by the chain rule, by autograd and by central differences, and one step.

a = W₁ x + b₁        (2,)        ∂ℒ/∂a = ∂ℒ/∂h ⊙ [a > 0]        ∂ℒ/∂W₁ = ∂ℒ/∂a xᵀ
h = max(a, 0)        (2,)        ∂ℒ/∂h = W₂ ∂ℒ/∂y               ∂ℒ/∂b₁ = ∂ℒ/∂a
y = W₂·h + b₂        ()          ∂ℒ/∂y = y − t                  ∂ℒ/∂W₂ = ∂ℒ/∂y h
ℒ = (y − t)²/2                                                  ∂ℒ/∂b₂ = ∂ℒ/∂y
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.backprop import BackpropParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Event, Invariant, Note, Panel, Report, Scalar, Series, Table
from engine.labs.base import Context, array, close, equal, largest, not_checked
from engine.layers.activations import relu

Tensors = dict[str, Tensor]

WEIGHTS = {
    "W₁": ((1.0, -1.0), (0.5, 0.5)),
    "b₁": (0.0, 0.0),
    "W₂": (1.0, 2.0),
    "b₂": 0.5,
}
DIFFERENCE = 1e-5
KINK = 1e-3  # closer to the kink than this, a difference may look over it
SMALL_RATE = 0.01
AGREE = say("the three gradients agree")
FALLS = say("the loss falls, or is 0 before and after")


@dataclass(frozen=True)
class Forward:
    """The values of the nodes: a and h (2,), y and loss ()."""

    a: Tensor
    h: Tensor
    y: Tensor
    loss: Tensor

    @property
    def at_kink(self) -> bool:
        """Whether a unit is so near its kink that differences see both slopes."""
        return bool((self.a.abs() <= KINK).any())


def run(params: BackpropParams, context: Context) -> Iterator[Event]:
    """Yield the report of one example and one step."""
    x = torch.tensor([params.x1, params.x2], dtype=torch.float64)
    target = torch.tensor(params.target, dtype=torch.float64)
    weights = {name: torch.tensor(value, dtype=torch.float64) for name, value in WEIGHTS.items()}
    now = forward(weights, x, target)
    by_hand = chain_rule(weights, x, target, now)
    automatic = autograd(weights, x, target)
    numeric = central_differences(weights, x, target)
    size = sum(by_hand[name].square().sum().item() for name in WEIGHTS)  # ‖g‖²
    after = forward(_stepped(weights, by_hand, params.lr), x, target)
    panels: list[Panel] = [
        _trace_table(weights, now, by_hand, automatic, numeric),
        _step_table(now, after, params.lr, size),
        _rates(weights, by_hand, x, target),
    ]
    if now.at_kink:
        panels.append(Note("kink", _kink_note()))
    with_small_rate = forward(_stepped(weights, by_hand, SMALL_RATE), x, target).loss.item()
    values = _values(now, after, by_hand, size, params.lr)
    values |= {"loss_small_rate": with_small_rate, "better_than_small_rate": after.loss.item() < with_small_rate}
    yield Report(tuple(panels), values, tuple(_invariants(now, after, x, by_hand, automatic, numeric, params.lr)))


def forward(weights: Mapping[str, Tensor], x: Tensor, target: Tensor) -> Forward:
    """Compute the net; `weights` may also hold "a", "h" and "y", added to these nodes to differentiate there."""
    a = weights["W₁"] @ x + weights["b₁"] + weights.get("a", 0.0)  # (2,)
    h = relu(a) + weights.get("h", 0.0)  # (2,)
    y = weights["W₂"] @ h + weights["b₂"] + weights.get("y", 0.0)  # ()
    return Forward(a, h, y, (y - target).square() / 2)


def chain_rule(weights: Tensors, x: Tensor, target: Tensor, now: Forward) -> Tensors:
    """Return the gradient at every node and weight, from the loss backwards."""
    y = now.y - target  # ()
    h = weights["W₂"] * y  # (2,)
    a = h * (now.a > 0)  # (2,)
    return {"y": y, "h": h, "a": a, "W₁": torch.outer(a, x), "b₁": a, "W₂": y * now.h, "b₂": y}


def autograd(weights: Tensors, x: Tensor, target: Tensor) -> Tensors:
    """Return the same gradients as torch computes them."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in _with_nodes(weights).items()}
    gradients = torch.autograd.grad(forward(leaves, x, target).loss, list(leaves.values()))
    return dict(zip(leaves, gradients, strict=True))


def central_differences(weights: Tensors, x: Tensor, target: Tensor) -> Tensors:
    """Return the same gradients as (ℒ(θ + ε) − ℒ(θ − ε))/2ε, one number at a time."""
    leaves = _with_nodes(weights)
    gradients = {}
    for name, tensor in leaves.items():
        slopes = []
        for number in range(tensor.numel()):
            nudge = torch.zeros(tensor.numel(), dtype=torch.float64)
            nudge[number] = DIFFERENCE
            above, below = (
                forward({**leaves, name: tensor + sign * nudge.reshape(tensor.shape)}, x, target).loss
                for sign in (1, -1)
            )
            slopes.append((above - below) / (2 * DIFFERENCE))
        gradients[name] = torch.stack(slopes).reshape(tensor.shape)
    return gradients


def _with_nodes(weights: Tensors) -> Tensors:
    zeros = torch.zeros(2, dtype=torch.float64)
    return {**weights, "a": zeros, "h": zeros, "y": torch.zeros((), dtype=torch.float64)}


def _stepped(weights: Tensors, gradients: Tensors, rate: float) -> Tensors:
    return {name: tensor - rate * gradients[name] for name, tensor in weights.items()}


def _trace_table(weights: Tensors, now: Forward, by_hand: Tensors, automatic: Tensors, numeric: Tensors) -> Table:
    nodes = {"a": now.a, "h": now.h, "y": now.y, **weights}
    rows = []
    for name, tensor in nodes.items():
        columns = (tensor, by_hand[name], automatic[name], numeric[name])
        for index, numbers in zip(
            _indices(tensor), zip(*(c.flatten().tolist() for c in columns), strict=True), strict=True
        ):
            rows.append((name + index, *numbers))
    heads = (say("value"), say("gradient by hand"), say("autograd"), say("central difference"))
    return Table(
        "trace",
        say("Every node and weight, with the gradient of the loss there"),
        (Column(say("node")), *(Column(head, ".4f") for head in heads)),
        tuple(rows),
    )


def _indices(tensor: Tensor) -> list[str]:
    """Return [1], [2] … or [1,1], [1,2] … for the entries of a tensor, and nothing for a single number."""
    if tensor.dim() == 0:
        return [""]
    numbers = torch.cartesian_prod(*(torch.arange(1, size + 1) for size in tensor.shape)).reshape(tensor.numel(), -1)
    return ["[" + ",".join(map(str, row)) + "]" for row in numbers.tolist()]


def _step_table(now: Forward, after: Forward, rate: float, size: float) -> Table:
    rows = (
        (say("loss before"), now.loss.item()),
        (say("loss after one step"), after.loss.item()),
        (say("drop that η‖g‖² predicts"), rate * size),
        (say("real drop"), (now.loss - after.loss).item()),
    )
    return Table(
        "step", say("One step of gradient descent"), (Column(say("quantity")), Column(say("value"), ".5f")), rows
    )


def _rates(weights: Tensors, gradients: Tensors, x: Tensor, target: Tensor) -> Curves:
    """The loss after one step, for every learning rate of the form."""
    rates = torch.logspace(-3, torch.log10(torch.tensor(0.2)).item(), 60, dtype=torch.float64)
    after = torch.stack([forward(_stepped(weights, gradients, rate), x, target).loss for rate in rates.tolist()])
    before = forward(weights, x, target).loss.expand(len(rates))
    series = (Series(say("loss after one step"), array(after)), Series(say("loss before"), array(before)))
    title = say("How long may the step be?")
    return Curves("rates", title, array(rates), series, say("learning rate"), say("loss"), log_x=True)


def _kink_note() -> Message:
    return say("At the kink the one-sided slopes differ: autograd takes 0, the central difference the mean.")


def _values(now: Forward, after: Forward, by_hand: Tensors, size: float, rate: float) -> dict[str, Scalar]:
    return {
        "a": now.a.tolist(),
        "h": now.h.tolist(),
        "y": now.y.item(),
        "loss": now.loss.item(),
        "loss_after": after.loss.item(),
        "y_after": after.y.item(),
        "loss_falls": after.loss.item() < now.loss.item(),
        "gradient_squared": size,
        "predicted_drop": rate * size,
        "real_drop": (now.loss - after.loss).item(),
        "gradient_y": by_hand["y"].item(),
        "gradient_h": by_hand["h"].tolist(),
        "gradient_a": by_hand["a"].tolist(),
        "gradient_w1": by_hand["W₁"].flatten().tolist(),
        "gradient_b1": by_hand["b₁"].tolist(),
        "gradient_w2": by_hand["W₂"].tolist(),
        "gradient_b2": by_hand["b₂"].item(),
    }


def _invariants(
    now: Forward, after: Forward, x: Tensor, by_hand: Tensors, automatic: Tensors, numeric: Tensors, rate: float
) -> Iterator[Invariant]:
    if now.at_kink:
        yield not_checked(AGREE, _kink_note())
    else:
        differences = [largest(by_hand[name] - automatic[name]) for name in by_hand]
        differences += [largest(by_hand[name] - numeric[name]) for name in by_hand]
        yield close(AGREE, max(differences), 1e-8)
    outer = torch.outer(automatic["a"], x)
    yield equal(say("∂ℒ/∂W₁ is the outer product of ∂ℒ/∂a and x"), automatic["W₁"], outer, 1e-12)
    if rate > SMALL_RATE:
        yield not_checked(FALLS, say("the learning rate is above {rate}", rate=SMALL_RATE))
    else:
        before, later = now.loss.item(), after.loss.item()
        detail = say("from {before:.6g} to {after:.6g}", before=before, after=later)
        yield Invariant(FALLS, later < before or before == later == 0, detail)
