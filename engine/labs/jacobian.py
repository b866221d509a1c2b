"""Computes the lab `jacobian`: ‖∂h_k/∂h_0‖₂ of a recurrent net for every distance k, exactly.

    a_t = W h_{t−1} + input_scale · N(0, I),  h_t = tanh a_t (or a_t),  h_0 = 0.1 · N(0, I)
    ∂h_k/∂h_0 = diag(1 − h_k²) W ⋯ diag(1 − h_1²) W

A gaussian W is scaled to the spectral radius ρ, which makes its largest singular value σ₁ about 1.8 ρ. The table of
medians reads four nets with this ρ (inputs of scale 0, 0.5 and 1; no activation), each for five seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec
import torch
from torch import Tensor

from engine.contract.labs.jacobian import SEEDS, JacobianParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Event, Invariant, Report, Scalar, Series, Table
from engine.gradients.attention import attention_jacobians
from engine.gradients.autograd import from_the_start_by_autograd, pinned
from engine.gradients.bounds import largest_singular_value, powers, scale_to_radius, spectral_radius
from engine.gradients.chain import from_the_start
from engine.gradients.norms import relative_differences, spectral_norms
from engine.gradients.rnn import RNNSteps, linear_slope, rnn_steps, tanh_slope
from engine.labs.base import Context, array, at_most, close
from engine.layers.multi_head import MultiHeadAttention
from engine.layers.rnn import RNN, RNNTrace

DISTANCES = (1, 5, 10, 20, 30, 50)
FLOOR = 1e-300  # what a logarithmic axis shows of anything smaller
ROUNDING = 1e-9  # an orthogonal matrix with ρ = 1 is neither above nor below 1
ATTENTION_WIDTH, ATTENTION_HEADS = 32, 4
SETTINGS: dict[str, tuple[Message, dict[str, float | str]]] = {
    "input_0": (say("inputs of scale 0"), {"input_scale": 0.0, "act": "tanh"}),
    "input_05": (say("inputs of scale 0.5"), {"input_scale": 0.5, "act": "tanh"}),
    "input_1": (say("inputs of scale 1"), {"input_scale": 1.0, "act": "tanh"}),
    "linear": (say("no activation"), {"input_scale": 0.0, "act": "linear"}),
}


@dataclass(frozen=True)
class Net:
    """A recurrent net and what it reads: `inputs` (T, H), `start` h_0 (H,), float64."""

    layer: RNN
    inputs: Tensor
    start: Tensor
    linear: bool

    @property
    def weight(self) -> Tensor:
        """W, (H, H)."""
        return self.layer.state_weight.detach()

    @torch.no_grad()
    def jacobians(self) -> tuple[Tensor, RNNTrace]:
        """Return ∂h_k/∂h_0 for k = 1 … T, (T, H, H), and the trace of the states on the way."""
        _, trace = self.layer(self.inputs, self.start)
        steps = rnn_steps(self.layer, trace, linear_slope if self.linear else tanh_slope)
        return from_the_start(steps), trace


@dataclass(frozen=True)
class Measured:
    """What the report shows: norms (T,) of the net's Jacobians and of the attention's (T − 1,), or no attention."""

    net: Net
    trace: RNNTrace
    jacobians: Tensor
    norms: Tensor
    radius: float
    sigma: float
    distances: tuple[int, ...]
    medians: dict[str, Tensor]
    attention: Tensor | None


def run(params: JacobianParams, context: Context) -> Iterator[Event]:
    """Yield the report of one net, with the medians over several seeds."""
    net = build(params, context)
    jacobians, trace = net.jacobians()
    distances = tuple(k for k in DISTANCES if k <= params.T)
    measured = Measured(
        net=net,
        trace=trace,
        jacobians=jacobians,
        norms=spectral_norms(jacobians),
        radius=params.rho,
        sigma=largest_singular_value(net.weight),
        distances=distances,
        medians={name: _medians(params, name, distances, context) for name in SETTINGS},
        attention=_attention(params.T, context) if params.compare else None,
    )
    panels = (_curves(measured), _table(measured), _medians_table(measured))
    yield Report(panels, _values(measured), tuple(_invariants(measured, params)))


def build(params: JacobianParams, context: Context) -> Net:
    """Return the net of the parameters, drawn from the seed."""
    weight = _matrix(params, context)
    hidden = weight.shape[0]
    linear = params.act == "linear"
    layer = RNN(hidden, hidden, activation=_unchanged if linear else torch.tanh, dtype=torch.float64)
    with torch.no_grad():
        layer.state_weight.copy_(weight)
        layer.input_weight.copy_(torch.eye(hidden))
        layer.input_bias.zero_()
        layer.state_bias.zero_()
    inputs = params.input_scale * context.normal("inputs", params.T, hidden)
    return Net(layer, inputs, 0.1 * context.normal("start", hidden), linear)


def _unchanged(pre_activation: Tensor) -> Tensor:
    return pre_activation


def _matrix(params: JacobianParams, context: Context) -> Tensor:
    if params.matrix == "non-normal":
        return torch.tensor([[params.rho, params.offdiag], [0.0, params.rho]], dtype=torch.float64)
    drawn = context.normal("weights", params.hidden, params.hidden)
    if params.matrix == "orthogonal":
        rotation: Tensor = torch.linalg.qr(drawn).Q
        return params.rho * rotation
    return scale_to_radius(drawn, params.rho)


def _medians(params: JacobianParams, setting: str, distances: tuple[int, ...], context: Context) -> Tensor:
    """Return the median norm over five seeds for each distance, (len(distances),)."""
    settled = msgspec.structs.replace(params, **SETTINGS[setting][1])
    chosen = torch.tensor(distances) - 1
    norms = []
    for seed in range(context.seed, context.seed + SEEDS):
        context.check()
        jacobians, _ = build(settled, replace(context, seed=seed)).jacobians()
        norms.append(spectral_norms(jacobians[chosen]))
    return torch.stack(norms).median(0).values


def _attention(length: int, context: Context) -> Tensor:
    """Return ‖∂y_T/∂x_k‖₂ of a random self-attention layer for the distances T − k = 1 … T − 1, (T − 1,)."""
    layer = MultiHeadAttention(
        ATTENTION_WIDTH, ATTENTION_HEADS, generator=context.generator("attention"), dtype=torch.float64
    )
    with torch.no_grad():
        _, trace = layer(context.normal("sentence", length, ATTENTION_WIDTH))
    return spectral_norms(attention_jacobians(layer, trace))[:-1].flip(0)


def _curves(measured: Measured) -> Curves:
    count = len(measured.norms)
    drawn = [
        (say("‖∂h_k/∂h_0‖"), measured.norms),
        (say("ρ^k"), powers(measured.radius, count)),
        (say("σ₁^k"), powers(measured.sigma, count)),
    ]
    if measured.attention is not None:
        gap = torch.full((1,), math.nan, dtype=torch.float64)  # no token stands T before the last
        drawn.append((say("self-attention"), torch.cat((measured.attention, gap))))
    return Curves(
        "norms",
        say("Size of the gradient against the distance"),
        array(torch.arange(1, count + 1, dtype=torch.float64)),
        tuple(Series(name, array(y.clamp(min=FLOOR))) for name, y in drawn),
        say("distance k"),
        say("spectral norm"),
        log_y=True,
    )


def _table(measured: Measured) -> Table:
    columns = [
        Column(say("distance k"), "d"),
        Column(say("‖∂h_k/∂h_0‖"), ".3g"),
        Column(say("ρ^k"), ".3g"),
        Column(say("σ₁^k"), ".3g"),
    ]
    if measured.attention is not None:
        columns.append(Column(say("self-attention"), ".3g"))
    rows = []
    for k in measured.distances:
        row: list[float | None] = [k, measured.norms[k - 1].item(), measured.radius**k, measured.sigma**k]
        if measured.attention is not None:
            row.append(measured.attention[k - 1].item() if k <= len(measured.attention) else None)
        rows.append(tuple(row))
    title = say("At some distances: ρ = {rho:g}, σ₁ = {sigma:.3g}", rho=measured.radius, sigma=measured.sigma)
    return Table("distances", title, tuple(columns), tuple(rows))


def _medians_table(measured: Measured) -> Table:
    heads = tuple(Column(say("k = {k}", k=k), ".1e") for k in measured.distances)
    rows = [(SETTINGS[name][0], *medians.tolist()) for name, medians in measured.medians.items()]
    rows.append((say("ρ^k"), *(measured.radius**k for k in measured.distances)))
    title = say("Four nets with this ρ: medians of {seeds} seeds", seeds=SEEDS)
    return Table("medians", title, (Column(say("net")), *heads), tuple(rows))


def _values(measured: Measured) -> dict[str, Scalar]:
    """Plain names are at the largest distance T; lists follow `distances`; without one `first_below_1` is NaN."""
    norms = measured.norms
    peak = int(norms.argmax().item())
    below = (norms[peak:] < 1 - ROUNDING).nonzero()
    values: dict[str, Scalar] = {
        "norm": norms[-1].item(),
        "above_1": norms[-1].item() > 1 + ROUNDING,
        "rho_power": measured.radius ** len(norms),
        "sigma": measured.sigma,
        "sigma_power": measured.sigma ** len(norms),
        "largest_norm": norms[peak].item(),
        "largest_norm_at": peak + 1,
        "first_below_1": peak + 1 + int(below[0].item()) if len(below) else math.nan,
        "distances": [float(k) for k in measured.distances],
        "norms": [norms[k - 1].item() for k in measured.distances],
    }
    values |= {f"median_{name}": medians.tolist() for name, medians in measured.medians.items()}
    if measured.attention is not None:
        values |= {
            "attention_least": measured.attention.min().item(),
            "attention_median": measured.attention.median().item(),
            "attention_most": measured.attention.max().item(),
        }
    return values


def _invariants(measured: Measured, params: JacobianParams) -> Iterator[Invariant]:
    net, distances = measured.net, measured.distances
    at = torch.tensor(distances) - 1  # Jacobians are counted from 0
    count = len(measured.norms)
    ratio = (measured.norms / powers(measured.sigma, count)).max().item()
    yield at_most(say("‖∂h_k/∂h_0‖ ≤ σ₁^k: the largest ratio"), ratio, 1.0)
    yield close(say("the spectral radius of W is ρ"), spectral_radius(net.weight) / params.rho - 1, 1e-9)

    def read(starts: Tensor) -> Tensor:
        hidden, states = starts, []
        for projected, recorded in zip(net.layer.project(net.inputs), measured.trace.hidden, strict=True):
            hidden = pinned(net.layer.step(projected, hidden).hidden, recorded)
            states.append(hidden)
        return torch.stack(states, dim=1)

    automatic = from_the_start_by_autograd(read, net.start, len(net.start), distances)
    error = relative_differences(measured.jacobians[at], automatic).max().item()
    yield close(say("equals autograd, relative to its size"), error, 1e-9)
    slopes = torch.ones_like(net.inputs)
    linear = from_the_start(RNNSteps(slopes, net.weight, net.weight))
    matrix_powers = torch.stack([torch.linalg.matrix_power(net.weight, k) for k in distances])
    error = relative_differences(linear[at], matrix_powers).max().item()
    yield close(say("without activation it is W^k, relative to its size"), error, 1e-9)
    if params.matrix == "orthogonal":
        kept = spectral_norms(linear) / powers(params.rho, count) - 1
        yield close(say("an orthogonal W without activation has norm ρ^k exactly"), kept, 1e-10)
