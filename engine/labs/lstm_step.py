"""Computes the lab `lstm-step`: what the gates do to the cell, word by word.

    c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh c_t,  c_0 the same in every unit, h_0 = 0

A held gate has the value 0 or 1 in every unit and step; the others are computed as always, from the h that results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from engine.contract.labs.lstm_step import LstmStepParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Event, Heatmap, Invariant, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, at_most, close, counted, largest, not_checked
from engine.layers.lstm import LSTM, LSTMGates, LSTMTrace, remember
from engine.layers.recurrent import stack_steps

INPUT_WIDTH = 4
HELD: dict[str, dict[str, float]] = {
    "none": {},
    "conveyor": {"forget_gate": 1.0, "input_gate": 0.0},
    "overwrite": {"forget_gate": 0.0, "input_gate": 1.0},
    "mute": {"output_gate": 0.0},
}


@dataclass(frozen=True)
class Reading:
    """A sentence read by an LSTM: inputs (T, 4), the trace (T, H) and c_0 (H,)."""

    tokens: tuple[str, ...]
    layer: LSTM
    inputs: Tensor
    trace: LSTMTrace
    start_cell: Tensor


def run(params: LstmStepParams, context: Context) -> Iterator[Event]:
    """Yield the report of one sentence."""
    reading = read(params, context)
    panels: tuple[Panel, ...] = (_gate_table(reading), *_maps(reading))
    yield Report(panels, _values(reading, params.c0), tuple(_invariants(reading, params)))


@torch.no_grad()
def read(params: LstmStepParams, context: Context) -> Reading:
    """Let the net of the parameters read the sentence, with the chosen gates held."""
    tokens = tokenize(params.text)
    layer = LSTM(
        INPUT_WIDTH,
        params.hidden,
        forget_bias=params.forget_bias,
        generator=context.generator("weights"),
        dtype=torch.float64,
    )
    inputs = context.word_vectors(tokens, INPUT_WIDTH)  # (T, 4)
    start_cell = torch.full((params.hidden,), params.c0, dtype=torch.float64)
    hidden, cell = torch.zeros_like(start_cell), start_cell
    steps = []
    for projected in layer.project(inputs):
        step = remember(hold(layer.gates(projected, hidden), params.override), cell)
        hidden, cell = step.hidden, step.cell
        steps.append(step)
    return Reading(tuple(tokens), layer, inputs, stack_steps(steps), start_cell)


def hold(gates: LSTMGates, override: str) -> LSTMGates:
    """Return the gates with those of `override` held at 0 or 1."""
    held = {name: torch.full_like(gates.candidate, value) for name, value in HELD[override].items()}
    return replace(gates, **held)


def _gate_table(reading: Reading) -> Table:
    trace = reading.trace
    columns = (
        Column(say("token")),
        Column(say("unit"), "d"),
        *(Column(name, ".4f") for name in (say("f"), say("i"), say("g"), say("o"), say("c"), say("h"))),
    )
    shown = (trace.forget_gate, trace.input_gate, trace.candidate, trace.output_gate, trace.cell, trace.hidden)
    labels = axis_labels(list(reading.tokens))
    rows = tuple(
        (labels[t], unit + 1, *(tensor[t, unit].item() for tensor in shown))
        for t in range(len(labels))
        for unit in range(trace.cell.shape[1])
    )
    return Table("gates", say("Gates, candidate, cell and state of every unit"), columns, rows)


def _maps(reading: Reading) -> Iterator[Heatmap]:
    trace = reading.trace
    gates = (
        ("forget", say("Forget gate f"), trace.forget_gate),
        ("input", say("Input gate i"), trace.input_gate),
        ("output", say("Output gate o"), trace.output_gate),
    )
    for id, title, values in gates:
        yield _map(reading, id, title, values, 0.0, 1.0)
    bound = max(1.0, largest(trace.cell))
    yield _map(reading, "cell", say("Cell c"), trace.cell, -bound, bound)
    yield _map(reading, "hidden", say("Hidden state h"), trace.hidden, -1.0, 1.0)


def _map(reading: Reading, id: str, title: Message, values: Tensor, minimum: float, maximum: float) -> Heatmap:
    return Heatmap(
        id,
        title,
        array(values),
        tuple(axis_labels(list(reading.tokens))),
        counted("u", values.shape[1]),
        say("time"),
        say("units"),
        minimum,
        maximum,
        "sequential" if minimum == 0.0 else "diverging",
        group="maps",
    )


def _values(reading: Reading, c0: float) -> dict[str, Scalar]:
    """Lists are those of the first unit over time."""
    trace = reading.trace
    return {
        "f": trace.forget_gate[:, 0].tolist(),
        "i": trace.input_gate[:, 0].tolist(),
        "g": trace.candidate[:, 0].tolist(),
        "o": trace.output_gate[:, 0].tolist(),
        "c": trace.cell[:, 0].tolist(),
        "h": trace.hidden[:, 0].tolist(),
        "mean_forget_gate": trace.forget_gate.mean().item(),
        "cell_stays": bool((trace.cell == c0).all()),
        "hidden_varies": bool((trace.hidden.amax(0) > trace.hidden.amin(0)).all()),
        "largest_cell": largest(trace.cell),
        "largest_hidden": largest(trace.hidden),
    }


def _invariants(reading: Reading, params: LstmStepParams) -> Iterator[Invariant]:
    trace, start = reading.trace, abs(params.c0)
    gates = torch.stack((trace.input_gate, trace.forget_gate, trace.output_gate))
    if params.override == "none":
        inside = bool(((gates > 0) & (gates < 1)).all())
        name = say("every gate lies strictly between 0 and 1")
    else:
        inside = bool(((gates >= 0) & (gates <= 1)).all())
        name = say("every gate lies between 0 and 1, the held ones at an end")
    low, high = gates.min().item(), gates.max().item()
    yield Invariant(name, inside, say("from {low:.4g} to {high:.4g}", low=low, high=high))
    yield at_most(say("|h| is at most 1"), largest(trace.hidden), 1.0)
    over_time = trace.cell.abs() - torch.arange(1, len(trace.cell) + 1, dtype=torch.float64).unsqueeze(1)
    yield at_most(say("|c_t| − t is at most |c_0|"), over_time.max().item(), start)
    if params.override == "conveyor":
        yield close(say("on the conveyor c stays exactly at c_0"), trace.cell - reading.start_cell, 0.0)
    elif params.override == "overwrite":
        yield close(say("overwritten, c is exactly the candidate g"), trace.cell - trace.candidate, 0.0)
    elif params.override == "mute":
        yield close(say("muted, h is exactly 0"), trace.hidden, 0.0)
    reference = say("equals torch's nn.LSTMCell")
    if params.override == "none":
        hidden, cell = _torchs(reading)
        yield close(reference, torch.cat((hidden - trace.hidden, cell - trace.cell)), 1e-12)
    else:
        yield not_checked(reference, say("torch's cell holds no gate"))


@torch.no_grad()
def _torchs(reading: Reading) -> tuple[Tensor, Tensor]:
    """Return h and c of every step (T, H) by torch's own cell with the same weights, gate order i, f, g, o."""
    layer, width = reading.layer, len(reading.start_cell)
    reference = nn.LSTMCell(INPUT_WIDTH, width, dtype=torch.float64)
    reference.load_state_dict(
        {
            "weight_ih": layer.input_weight,
            "weight_hh": layer.state_weight,
            "bias_ih": layer.input_bias,
            "bias_hh": layer.state_bias,
        }
    )
    state = (torch.zeros_like(reading.start_cell), reading.start_cell)
    states = []
    for x in reading.inputs:
        state = reference(x, state)
        states.append(torch.stack(state))
    hidden, cell = torch.stack(states, dim=1)  # each (T, H)
    return hidden, cell
