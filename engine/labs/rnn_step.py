"""Computes the lab `rnn-step`: every step of a recurrent net, and how far its last state depends on each word.

a_t = W_hh h_{t−1} + W_xh x_t,  h_t = tanh a_t,  h_0 = 0
∂h_T/∂x_t = diag(1 − h_T²) W_hh ⋯ diag(1 − h_t²) W_xh
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.labs.rnn_step import RnnStepParams
from engine.contract.message import say
from engine.contract.report import Bars, Column, Event, Heatmap, Invariant, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.gradients.autograd import to_the_inputs_by_autograd
from engine.gradients.chain import to_the_inputs
from engine.gradients.norms import relative_differences, spectral_norms
from engine.gradients.rnn import rnn_steps
from engine.labs.base import Context, array, at_most, close, counted, largest, written
from engine.layers.rnn import RNN, RNNTrace

WORKED_INPUTS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
WORKED_INPUT_WEIGHT = ((0.5, 0.0), (0.0, 0.5))
WORKED_STATE_WEIGHT = ((0.5, -0.5), (0.5, 0.5))


@dataclass(frozen=True)
class Reading:
    """A sentence read by an RNN: `inputs` (T, d_in), trace (T, H), ∂h_T/∂x_t (T, H, d_in) and their norms (T,).

    `moved` (T − 1,) is how far h_T moves, relative to its length, when the first 1 … T−1 words are replaced.
    """

    tokens: tuple[str, ...]
    layer: RNN
    inputs: Tensor
    trace: RNNTrace
    by_inputs: Tensor
    sensitivities: Tensor
    moved: Tensor


def run(params: RnnStepParams, context: Context) -> Iterator[Event]:
    """Yield the report of one sentence."""
    reading = read(params, context)
    panels = (_steps_table(reading), _states_panel(reading), _sensitivity_bars(reading), _memory_table(reading))
    yield Report(panels, _values(reading), tuple(_invariants(reading, context)))


@torch.no_grad()
def read(params: RnnStepParams, context: Context) -> Reading:
    """Let the net of the parameters read the sentence, with and without its first words replaced."""
    tokens = tokenize(params.text)
    layer = RNN(params.input_size, params.hidden, dtype=torch.float64)
    layer.input_bias.zero_()
    layer.state_bias.zero_()
    input_weight, state_weight = _weights(params, context)
    layer.input_weight.copy_(input_weight)
    layer.state_weight.copy_(state_weight)
    if params.init == "worked":
        inputs = torch.tensor(WORKED_INPUTS, dtype=torch.float64)
    else:
        inputs = context.word_vectors(tokens, params.input_size)  # (T, d_in)
    hidden, trace = layer(inputs)
    by_inputs = to_the_inputs(rnn_steps(layer, trace))
    last, _ = layer(_replaced(inputs, context))  # (T − 1, T, H)
    moved = (last[:, -1] - hidden[-1]).norm(dim=-1) / hidden[-1].norm()
    return Reading(tuple(tokens), layer, inputs, trace, by_inputs, spectral_norms(by_inputs), moved)


def _weights(params: RnnStepParams, context: Context) -> tuple[Tensor, Tensor]:
    """Return W_xh (H, d_in) and W_hh (H, H)."""
    if params.init == "worked":
        return (
            torch.tensor(WORKED_INPUT_WEIGHT, dtype=torch.float64),
            torch.tensor(WORKED_STATE_WEIGHT, dtype=torch.float64),
        )
    by_input = context.normal("input weights", params.hidden, params.input_size)
    by_state = context.normal("state weights", params.hidden, params.hidden)
    if params.init == "tiny":
        return 0.01 * by_input, 0.01 * by_state
    scale = params.hidden**-0.5
    return scale * by_input, torch.linalg.qr(by_state).Q if params.init == "orthogonal" else scale * by_state


def _replaced(inputs: Tensor, context: Context) -> Tensor:
    """Return the sentence with its first 1, 2, … T−1 words replaced by other words, (T − 1, T, d_in)."""
    length = len(inputs)
    others = context.normal("other words", *inputs.shape)
    replaced = torch.ones(length - 1, length, dtype=torch.bool).tril()  # row m: the first m + 1 words
    return torch.where(replaced.unsqueeze(-1), others, inputs)


def _steps_table(reading: Reading) -> Table:
    columns = (
        Column(say("t"), "d"),
        Column(say("token")),
        Column(say("input x_t")),
        Column(say("a_t")),
        Column(say("h_t")),
    )
    trace = reading.trace
    vectors = zip(reading.tokens, reading.inputs, trace.pre_activation, trace.hidden, strict=True)
    rows = tuple(
        (t + 1, token, written(x, ".2f"), written(a, ".4f"), written(h, ".4f"))
        for t, (token, x, a, h) in enumerate(vectors)
    )
    return Table("steps", say("Step by step"), columns, rows)


def _states_panel(reading: Reading) -> Heatmap:
    return Heatmap(
        "states",
        say("Hidden states h, (T, H)"),
        array(reading.trace.hidden),
        tuple(axis_labels(list(reading.tokens))),
        counted("h", reading.trace.hidden.shape[1]),
        say("time"),
        say("units"),
        -1.0,
        1.0,
        "diverging",
    )


def _sensitivity_bars(reading: Reading) -> Bars:
    return Bars(
        "sensitivity",
        say("How much the last state depends on each input"),
        tuple(axis_labels(list(reading.tokens))),
        array(reading.sensitivities / reading.sensitivities[-1]),
        say("‖∂h_T/∂x_t‖, the last input = 1"),
    )


def _memory_table(reading: Reading) -> Table:
    columns = (
        Column(say("words replaced, from the first on"), "d"),
        Column(say("h_T moves by"), ".2%"),
    )
    rows = tuple((count + 1, moved) for count, moved in enumerate(reading.moved.tolist()))
    return Table("memory", say("Other words at the beginning: what is left of them in h_T"), columns, rows)


def _values(reading: Reading) -> dict[str, Scalar]:
    """`sensitivities` are relative to the last input; `moved` is a share of ‖h_T‖, one entry per words replaced."""
    relative = reading.sensitivities / reading.sensitivities[-1]
    values: dict[str, Scalar] = {f"h_{t + 1}": state.tolist() for t, state in enumerate(reading.trace.hidden)}
    return values | {
        "last_state": reading.trace.hidden[-1].tolist(),
        "sensitivities": relative.tolist(),
        "first_sensitivity": relative[0].item(),
        "moved": reading.moved.tolist(),
        "moved_by_first": reading.moved[0].item(),
        "moved_by_all_but_last": reading.moved[-1].item(),
    }


@torch.no_grad()
def _invariants(reading: Reading, context: Context) -> Iterator[Invariant]:
    layer, inputs, hidden = reading.layer, reading.inputs, reading.trace.hidden
    yield at_most(say("|h| is at most 1"), largest(hidden), 1.0)
    sentences = _replaced(inputs.flip(0), context).flip(1)  # in sentence m the last m + 1 words are others
    earlier = [layer(sentence)[0][: -1 - m] - hidden[: -1 - m] for m, sentence in enumerate(sentences)]
    yield close(say("h_t does not change at all with the tokens after t"), torch.cat(earlier), 0.0)
    before = torch.cat((torch.zeros_like(hidden[:1]), hidden[:-1]))
    at_once = layer.step(layer.project(inputs), before).hidden  # every step, as if it were the only one
    yield close(say("every step is the same function of x_t and of the state before"), at_once - hidden, 1e-12)
    yield close(say("equals torch's nn.RNN"), _torchs(layer, inputs) - hidden, 1e-12)
    with torch.enable_grad():
        automatic = to_the_inputs_by_autograd(lambda copies: layer(copies)[0], inputs, hidden.shape[1])
    error = relative_differences(reading.by_inputs, automatic).max().item()
    yield close(say("the sensitivities equal autograd, relative to their size"), error, 1e-9)


def _torchs(layer: RNN, inputs: Tensor) -> Tensor:
    """Return the states that torch's own layer gives with the same weights, (T, H)."""
    hidden, width = layer.input_weight.shape
    reference = nn.RNN(width, hidden, dtype=torch.float64)
    reference.load_state_dict(
        {
            "weight_ih_l0": layer.input_weight,
            "weight_hh_l0": layer.state_weight,
            "bias_ih_l0": layer.input_bias,
            "bias_hh_l0": layer.state_bias,
        }
    )
    states: Tensor = reference(inputs)[0]
    return states
