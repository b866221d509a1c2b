"""Computes the lab `gru-conventions`: one step of a GRU in four conventions, from the same weights, input and state.

paper (Cho et al., 2014)   n = tanh(W_n x + b_n + U_n (r ⊙ h) + c_n)
torch                      n = tanh(W_n x + b_n + r ⊙ (U_n h + c_n))
z keeps                    h_t = (1 − z) ⊙ n + z ⊙ h
z replaces                 h_t = (1 − z) ⊙ h + z ⊙ n
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.labs.gru_conventions import GruConventionsParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Event, Heatmap, Invariant, Report, Scalar, Table
from engine.labs.base import Context, array, close, largest
from engine.layers.gru import GRU, GRUTrace, keep, replace, reset_after, reset_before
from engine.layers.lstm import LSTM
from engine.layers.rnn import RNN

RESETS = {"paper": reset_before, "torch": reset_after}
UPDATES = {"keep": keep, "replace": replace}
SHUT = 60.0  # a bias at which σ is 1 to the last digit
CELLS: dict[str, tuple[Message, type[RNN] | type[GRU] | type[LSTM], int]] = {
    "rnn": (say("RNN"), RNN, 1),
    "gru": (say("GRU"), GRU, 3),
    "lstm": (say("LSTM"), LSTM, 4),
}


@dataclass(frozen=True)
class Step:
    """One step: input x (d_in,), state h_{t−1} (H,), and the trace of every convention, fields (H,)."""

    layers: dict[tuple[str, str], GRU]
    x: Tensor
    before: Tensor
    traces: dict[tuple[str, str], GRUTrace]

    def hidden(self, variant: str, z_meaning: str = "keep") -> Tensor:
        """Return h_t in one convention, (H,)."""
        return self.traces[variant, z_meaning].hidden


def run(params: GruConventionsParams, context: Context) -> Iterator[Event]:
    """Yield the report of one step in every convention, with the chosen one gate by gate."""
    step = take(params, context)
    counts = {name: count(name, params.input, params.H) for name in CELLS}
    panels = (_gate_table(step, params), _difference_panel(step), _count_table(counts, params))
    yield Report(panels, _values(step, params, counts), tuple(_invariants(step, params, counts, context)))


@torch.no_grad()
def take(params: GruConventionsParams, context: Context) -> Step:
    """Take one step in all four conventions with the same weights, start uniform on ±1/√H."""
    width = params.hidden
    x, before = context.normal("input", width), torch.tanh(context.normal("state", width))
    layers, traces = {}, {}
    for variant, reset in RESETS.items():
        for z_meaning, update in UPDATES.items():
            layer = GRU(
                width,
                width,
                reset=reset,
                update=update,
                generator=context.generator("weights"),
                dtype=torch.float64,
            )
            layer.input_bias[:width] += params.r_bias
            layers[variant, z_meaning] = layer
            traces[variant, z_meaning] = layer.step(layer.project(x), before)
    return Step(layers, x, before, traces)


def count(cell: str, inputs: int, hidden: int) -> int:
    """Return the number of parameters of a cell with two biases, as torch counts; nothing is allocated."""
    layer = CELLS[cell][1](inputs, hidden, device="meta")
    return sum(parameter.numel() for parameter in layer.parameters())


def _gate_table(step: Step, params: GruConventionsParams) -> Table:
    trace = step.traces[params.variant, params.z_meaning]
    columns = (
        Column(say("unit"), "d"),
        *(Column(name, ".4f") for name in (say("r"), say("z"), say("h before"), say("n"), say("h_t"))),
    )
    shown = (trace.reset_gate, trace.update_gate, step.before, trace.candidate, trace.hidden)
    rows = tuple((unit + 1, *numbers) for unit, numbers in enumerate(torch.stack(shown, dim=1).tolist()))
    return Table("gates", say("One step, gate by gate"), columns, rows)


def _difference_panel(step: Step) -> Heatmap:
    hidden = torch.stack([trace.hidden for trace in step.traces.values()])  # (4, H)
    differences = (hidden[:, None] - hidden[None]).abs().amax(-1)  # (4, 4)
    labels = tuple(f"{variant} {z_meaning[0].upper()}" for variant, z_meaning in step.traces)
    return Heatmap(
        "differences",
        say("Largest difference of h_t between two conventions (K: z keeps, R: z replaces)"),
        array(differences),
        labels,
        labels,
        say("convention"),
        say("convention"),
        0.0,
        largest(differences) or 1.0,
    )


def _count_table(counts: dict[str, int], params: GruConventionsParams) -> Table:
    columns = (
        Column(say("cell")),
        Column(say("two biases (torch)"), ",d"),
        Column(say("one bias"), ",d"),
        Column(say("ratio"), "d"),
    )
    rows = tuple(
        (label, counts[name], counts[name] - blocks * params.H, counts[name] // counts["rnn"])
        for name, (label, _, blocks) in CELLS.items()
    )
    title = say("Parameters for input width {inputs} and hidden width {hidden}", inputs=params.input, hidden=params.H)
    return Table("counts", title, columns, rows)


def _values(step: Step, params: GruConventionsParams, counts: dict[str, int]) -> dict[str, Scalar]:
    """`reset_difference` is between the two places of the reset gate with z aligned; `z_difference` between the two
    meanings of z in the chosen place."""
    trace = step.traces[params.variant, params.z_meaning]
    reset_difference = largest(step.hidden("paper") - step.hidden("torch"))
    values: dict[str, Scalar] = {
        "reset_difference": reset_difference,
        "variants_differ": reset_difference > 1e-12,
        "z_difference": largest(step.hidden(params.variant, "keep") - step.hidden(params.variant, "replace")),
        "r": trace.reset_gate.tolist(),
        "z": trace.update_gate.tolist(),
        "n": trace.candidate.tolist(),
        "before": step.before.tolist(),
        "h": trace.hidden.tolist(),
    }
    for name, (_, _, blocks) in CELLS.items():
        values[f"{name}_count"] = counts[name]
        values[f"{name}_count_one_bias"] = counts[name] - blocks * params.H
    return values


@torch.no_grad()
def _invariants(
    step: Step, params: GruConventionsParams, counts: dict[str, int], context: Context
) -> Iterator[Invariant]:
    yield close(
        say("the torch convention with z keeping equals torch's nn.GRUCell"),
        _torchs(step) - step.hidden("torch"),
        1e-12,
    )
    trace = step.traces[params.variant, params.z_meaning]
    low, high = torch.minimum(step.before, trace.candidate), torch.maximum(step.before, trace.candidate)
    outside = torch.maximum(low - trace.hidden, trace.hidden - high).clamp(min=0)
    yield close(say("every h_t lies between the state before and the candidate n"), outside, 1e-12)
    renamed = _renamed(step.layers[params.variant, "replace"])
    again = renamed.step(renamed.project(step.x), step.before).hidden
    yield close(
        say("with the weights of z negated, replacing gives what keeping gave"),
        again - step.hidden(params.variant, "keep"),
        1e-12,
    )
    shut = take(GruConventionsParams(r_bias=SHUT, hidden=params.hidden), context)
    difference = shut.hidden("paper") - shut.hidden("torch")
    yield close(say("with r = 1 (bias {bias:g}) both places of the reset gate agree", bias=SHUT), difference, 1e-12)
    beyond = max(abs(counts[name] - blocks * counts["rnn"]) for name, (_, _, blocks) in CELLS.items())
    yield close(say("the parameters are as 1 : 3 : 4 exactly"), float(beyond), 0.0)


def _renamed(layer: GRU) -> GRU:
    """Return a copy whose update gate is 1 − z: its weights and biases are negated."""
    width = layer.state_weight.shape[1]
    copy = GRU(layer.input_weight.shape[1], width, reset=layer.reset, update=layer.update, dtype=torch.float64)
    copy.load_state_dict(layer.state_dict())
    for weight in copy.parameters():
        weight[width : 2 * width] *= -1
    return copy


def _torchs(step: Step) -> Tensor:
    """Return h_t of torch's own cell with the same weights, (H,)."""
    layer = step.layers["torch", "keep"]
    reference = nn.GRUCell(len(step.x), len(step.before), dtype=torch.float64)
    reference.load_state_dict(
        {
            "weight_ih": layer.input_weight,
            "weight_hh": layer.state_weight,
            "bias_ih": layer.input_bias,
            "bias_hh": layer.state_bias,
        }
    )
    hidden: Tensor = reference(step.x, step.before)
    return hidden
