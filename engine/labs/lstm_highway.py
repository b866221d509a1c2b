"""Computes the lab `lstm-highway`: ∂c_k/∂c_0 of an LSTM at every distance k, whole and along the direct path.

    direct   diag(f_1 ⊙ ⋯ ⊙ f_k): gates and candidate are not allowed to see h
    whole    the product of the Jacobians of the joint state (h, c); the gates see h, which comes from c

Inputs are N(0, 1) of width 16, c_0 = h_0 = 0, weights start as torch's. The forget bias is set on one of the two bias
vectors; the other is cleared there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.lstm_highway import LstmHighwayParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Event, Invariant, Report, Scalar, Series, Table
from engine.gradients.autograd import from_the_start_by_autograd, pinned
from engine.gradients.bounds import half_life
from engine.gradients.chain import Steps, from_the_start
from engine.gradients.gru import gru_steps
from engine.gradients.lstm import LSTMSteps, direct_from_the_start, lstm_steps
from engine.gradients.norms import relative_differences, spectral_norms
from engine.gradients.rnn import rnn_steps
from engine.labs.base import Context, array, at_most, close
from engine.layers.gru import GRU
from engine.layers.lstm import LSTM, LSTMTrace, remember
from engine.layers.rnn import RNN

INPUT_WIDTH = 16
DISTANCES = (1, 10, 30, 50)
FLOOR = 1e-300  # what a logarithmic axis shows of anything smaller
OPEN_BIAS = 3.0


@dataclass(frozen=True)
class Highway:
    """∂c_k/∂c_0 for k = 1 … T: `full` (T, H, H), and the diagonal of the direct path, `direct` (T, H)."""

    layer: LSTM
    inputs: Tensor
    trace: LSTMTrace
    full: Tensor
    direct: Tensor

    @property
    def norms(self) -> Tensor:
        """‖∂c_k/∂c_0‖₂, (T,)."""
        return spectral_norms(self.full)


def run(params: LstmHighwayParams, context: Context) -> Iterator[Event]:
    """Yield the report of one LSTM, and of the cells it competes with."""
    highway = drive(params, context)
    norms = highway.norms
    cells = compare(params.T, params.hidden, context)
    panels = (_curves(highway, norms, params.path), _table(highway, norms), _cells_table(cells, params.T))
    values = _values(highway, norms) | {f"{name}_state": norm for name, (_, norm) in cells.items()}
    yield Report(panels, values, tuple(_invariants(highway, norms)))


@torch.no_grad()
def drive(params: LstmHighwayParams, context: Context) -> Highway:
    """Let the LSTM of the parameters read its inputs and derive every cell by the first."""
    layer = LSTM(
        INPUT_WIDTH,
        params.hidden,
        forget_bias=params.forget_bias,
        generator=context.generator("weights"),
        dtype=torch.float64,
    )
    layer.state_weight.mul_(params.w_scale)
    inputs = context.normal("inputs", params.T, INPUT_WIDTH)
    _, trace = layer(inputs)
    steps = lstm_steps(layer, trace)
    by_cell = steps.identity[:, params.hidden :]  # (2H, H): c_0 moves, h_0 does not
    whole = from_the_start(steps, by_cell)[:, params.hidden :]  # (T, H, H)
    return Highway(layer, inputs, trace, whole, direct_from_the_start(trace.forget_gate))


@torch.no_grad()
def compare(length: int, hidden: int, context: Context) -> dict[str, tuple[Message, float]]:
    """Return ‖∂state_T/∂state_0‖₂ of five cells at torch's start, from state 0; the state is h, or (h, c)."""
    inputs = context.normal("inputs", length, INPUT_WIDTH)

    def rnn() -> Steps:
        layer = RNN(INPUT_WIDTH, hidden, generator=context.generator("rnn"), dtype=torch.float64)
        return rnn_steps(layer, layer(inputs)[1])

    def gru(bias: float | None) -> Steps:
        layer = GRU(INPUT_WIDTH, hidden, update_bias=bias, generator=context.generator("gru"), dtype=torch.float64)
        return gru_steps(layer, layer(inputs)[1])

    def lstm(bias: float | None) -> LSTMSteps:
        layer = LSTM(INPUT_WIDTH, hidden, forget_bias=bias, generator=context.generator("weights"), dtype=torch.float64)
        return lstm_steps(layer, layer(inputs)[1])

    cells = {
        "rnn": (say("RNN"), rnn()),
        "gru": (say("GRU"), gru(None)),
        "lstm": (say("LSTM"), lstm(None)),
        "gru_open": (say("GRU, keep bias {bias:g}", bias=OPEN_BIAS), gru(OPEN_BIAS)),
        "lstm_open": (say("LSTM, forget bias {bias:g}", bias=OPEN_BIAS), lstm(OPEN_BIAS)),
    }
    return {name: (label, spectral_norms(from_the_start(steps)[-1]).item()) for name, (label, steps) in cells.items()}


def _curves(highway: Highway, norms: Tensor, path: str) -> Curves:
    whole = [(say("the whole derivative"), norms)]
    direct = [
        (say("∏f, largest unit"), highway.direct.amax(1)),
        (say("∏f, mean of the units"), highway.direct.mean(1)),
    ]
    drawn = {"direct": direct, "full": whole, "both": whole + direct}[path]
    return Curves(
        "highway",
        say("What arrives of a change of c_0"),
        array(torch.arange(1, len(norms) + 1, dtype=torch.float64)),
        tuple(Series(name, array(y.clamp(min=FLOOR))) for name, y in drawn),
        say("distance k"),
        say("‖∂c_k/∂c_0‖"),
        log_y=True,
    )


def _table(highway: Highway, norms: Tensor) -> Table:
    columns = (
        Column(say("distance k"), "d"),
        Column(say("whole"), ".2e"),
        Column(say("∏f, largest"), ".2e"),
        Column(say("∏f, mean"), ".2e"),
        Column(say("whole / largest"), ".3g"),
        Column(say("‖difference‖"), ".2e"),
    )
    difference = spectral_norms(highway.full - torch.diag_embed(highway.direct))
    rows = []
    for k in (k for k in DISTANCES if k <= len(norms)):
        whole, direct = norms[k - 1].item(), highway.direct[k - 1]
        largest = direct.max().item()
        rows.append((k, whole, largest, direct.mean().item(), whole / largest, difference[k - 1].item()))
    gate = highway.trace.forget_gate.mean().item()
    title = say("Mean forget gate {gate:.3f}: half-life {steps:.1f} steps", gate=gate, steps=half_life(gate))
    return Table("distances", title, columns, tuple(rows))


def _cells_table(cells: dict[str, tuple[Message, float]], length: int) -> Table:
    columns = (Column(say("cell")), Column(say("‖∂state_T/∂state_0‖"), ".1e"))
    return Table("cells", say("Other cells at distance {T}", T=length), columns, tuple(cells.values()))


def _values(highway: Highway, norms: Tensor) -> dict[str, Scalar]:
    """Plain names are at the largest distance T; lists follow `distances`."""
    distances = [k for k in DISTANCES if k <= len(norms)]
    direct = highway.direct.amax(1)
    gate = highway.trace.forget_gate.mean().item()
    return {
        "full": norms[-1].item(),
        "direct_largest": direct[-1].item(),
        "direct_mean": highway.direct[-1].mean().item(),
        "ratio": norms[-1].item() / direct[-1].item(),
        "full_is_larger": norms[-1].item() > direct[-1].item(),
        "mean_forget_gate": gate,
        "half_life": half_life(gate),
        "distances": [float(k) for k in distances],
        "full_norms": [norms[k - 1].item() for k in distances],
        "direct_norms": [direct[k - 1].item() for k in distances],
    }


def _invariants(highway: Highway, norms: Tensor) -> Iterator[Invariant]:
    length, width = highway.direct.shape
    start = torch.zeros(width, dtype=torch.float64)
    everywhere = range(1, length + 1)
    distances = [k for k in (*DISTANCES, length) if k <= length]
    wanted = torch.tensor(distances) - 1  # Jacobians are counted from 0
    automatic = from_the_start_by_autograd(lambda cells: _cells(highway, cells, blind=False), start, width, distances)
    error = relative_differences(highway.full[wanted], automatic).max().item()
    yield close(say("the whole derivative equals autograd, relative to its size"), error, 1e-9)
    blind = from_the_start_by_autograd(lambda cells: _cells(highway, cells, blind=True), start, width, everywhere)
    yield close(
        say("when gates and candidate do not see h, autograd gives exactly diag(∏f)"),
        blind - torch.diag_embed(highway.direct),
        1e-12,
    )
    growth = (highway.direct[1:] - highway.direct[:-1]).max().item()
    yield at_most(say("the direct product never grows: the largest growth"), growth, 0.0)
    first = highway.full[0] - highway.direct[0].diag()
    yield close(say("at distance 1 both agree: h_0 does not depend on c_0"), first, 1e-12)


def _cells(highway: Highway, start_cells: Tensor, *, blind: bool) -> Tensor:
    """Read the inputs from a batch of cells (B, H) and return the cells (B, T, H); `blind` gates do not derive by h."""
    layer = highway.layer
    hidden, cell, cells = torch.zeros_like(start_cells), start_cells, []
    recorded = zip(highway.trace.hidden, highway.trace.cell, strict=True)
    for projected, (recorded_hidden, recorded_cell) in zip(layer.project(highway.inputs), recorded, strict=True):
        step = remember(layer.gates(projected, hidden.detach() if blind else hidden), cell)
        hidden, cell = pinned(step.hidden, recorded_hidden), pinned(step.cell, recorded_cell)
        cells.append(cell)
    return torch.stack(cells, dim=1)
