"""Gradients through time: the closed forms against torch's own cells and autograd, at any shape, in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.gradients.autograd import from_the_start_by_autograd, to_the_inputs_by_autograd
from engine.gradients.chain import Steps, from_the_start, to_the_end, to_the_inputs
from engine.gradients.gru import gru_steps
from engine.gradients.lstm import (
    LSTMSteps,
    cell_rows,
    direct_from_the_start,
    direct_to_the_end,
    hidden_rows,
    lstm_steps,
)
from engine.gradients.norms import relative_differences
from engine.gradients.rnn import linear_slope, relu_slope, rnn_steps, tanh_slope
from engine.layers.gru import GRU, keep, replace, reset_after, reset_before
from engine.layers.lstm import LSTM, remember
from engine.layers.rnn import RNN

shapes = {"length": st.integers(1, 7), "inputs": st.integers(1, 4), "hidden": st.integers(1, 6)}
seeds = st.integers(0, 10_000)
Cell = Callable[[Tensor, Tensor], Tensor]


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def copy_into(cell: nn.RNNCell | nn.GRUCell | nn.LSTMCell, layer: RNN | GRU | LSTM) -> None:
    with torch.no_grad():
        cell.weight_ih.copy_(layer.input_weight)
        cell.weight_hh.copy_(layer.state_weight)
        cell.bias_ih.copy_(layer.input_bias)
        cell.bias_hh.copy_(layer.state_bias)


def jacobian(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    result = torch.func.jacrev(function)(at)
    assert isinstance(result, Tensor)
    return result


def reference(cell: Cell, inputs: Tensor, states: list[Tensor], start: int) -> Tensor:
    """Return ∂(last state)/∂(state `start`) through torch's cell, by torch's jacobian."""

    def read(state: Tensor) -> Tensor:
        for x in inputs[start:]:
            state = cell(x, state)
        return state

    return jacobian(read, states[start])


def agrees_with(cell: Cell, inputs: Tensor, start: Tensor, steps: Steps) -> bool:
    """Tell whether both directions and the inputs agree with torch's cell to 1e-10."""
    states = [start]
    for x in inputs:
        states.append(cell(x, states[-1]).detach())
    wanted = torch.stack([reference(cell, inputs, states, k) for k in range(len(inputs))])
    to_end = to_the_end(steps)
    first = from_the_start(steps)
    assert first.shape == to_end.shape == (len(inputs), len(start), len(start))
    prefixes = torch.stack([reference(cell, inputs[: k + 1], states, 0) for k in range(len(inputs))])

    def read_inputs(sequence: Tensor) -> Tensor:
        state = start
        for x in sequence:
            state = cell(x, state)
        return state

    by_inputs = jacobian(read_inputs, inputs)
    return bool(
        (relative_differences(to_end, wanted) <= 1e-10).all()
        and (relative_differences(first, prefixes) <= 1e-10).all()
        and (relative_differences(to_the_inputs(steps), by_inputs.transpose(0, 1)) <= 1e-10).all()
    )


@settings(max_examples=25)
@given(**shapes, seed=seeds)
def test_rnn_gradients_equal_those_through_torchs_cell(length: int, inputs: int, hidden: int, seed: int) -> None:
    layer = RNN(inputs, hidden, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    cell = nn.RNNCell(inputs, hidden, dtype=torch.float64)
    copy_into(cell, layer)
    sequence, start = normal(seed, length, inputs), normal(seed + 1, hidden)
    _, trace = layer(sequence, start)
    assert agrees_with(cell, sequence, start, rnn_steps(layer, trace))


@pytest.mark.parametrize(
    ("activation", "slope"), [(torch.relu, relu_slope), (lambda a: a, linear_slope), (torch.tanh, tanh_slope)]
)
def test_every_slope_is_the_derivative_of_its_activation(
    activation: Callable[[Tensor], Tensor], slope: Callable[..., Tensor]
) -> None:
    layer = RNN(3, 5, activation=activation, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    start = normal(2, 5)
    sequence = 2 * normal(3, 6, 3)
    _, trace = layer(sequence, start)
    by_hand = from_the_start(rnn_steps(layer, trace, slope))
    by_autograd = from_the_start_by_autograd(
        lambda starts: layer(sequence.expand(5, -1, -1), starts)[0], start, 5, range(1, 7)
    )
    assert relative_differences(by_hand, by_autograd).max().item() <= 1e-13


@settings(max_examples=25)
@given(**shapes, seed=seeds)
def test_gru_gradients_equal_those_through_torchs_cell(length: int, inputs: int, hidden: int, seed: int) -> None:
    layer = GRU(inputs, hidden, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    cell = nn.GRUCell(inputs, hidden, dtype=torch.float64)
    copy_into(cell, layer)
    sequence, start = normal(seed, length, inputs), normal(seed + 1, hidden)
    _, trace = layer(sequence, start)
    assert agrees_with(cell, sequence, start, gru_steps(layer, trace, start))


@settings(max_examples=25)
@given(**shapes, seed=seeds, before=st.booleans(), replaces=st.booleans())
def test_gru_gradients_equal_autograds_in_every_convention(
    length: int, inputs: int, hidden: int, seed: int, before: bool, replaces: bool
) -> None:
    layer = GRU(
        inputs,
        hidden,
        reset=reset_before if before else reset_after,
        update=replace if replaces else keep,
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.float64,
    )
    sequence, start = normal(seed, length, inputs), normal(seed + 1, hidden)
    _, trace = layer(sequence, start)

    def step(x: Tensor, state: Tensor) -> Tensor:
        hidden_states, _ = layer(x.unsqueeze(0), state)
        assert isinstance(hidden_states, Tensor)
        return hidden_states[0]

    assert agrees_with(step, sequence, start, gru_steps(layer, trace, start))


@settings(max_examples=25)
@given(**shapes, seed=seeds)
def test_lstm_gradients_of_the_joint_state_equal_those_through_torchs_cell(
    length: int, inputs: int, hidden: int, seed: int
) -> None:
    layer = LSTM(inputs, hidden, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    cell = nn.LSTMCell(inputs, hidden, dtype=torch.float64)
    copy_into(cell, layer)
    sequence, start = normal(seed, length, inputs), normal(seed + 1, 2 * hidden)
    _, trace = layer(sequence, start[:hidden], start[hidden:])

    def step(x: Tensor, state: Tensor) -> Tensor:
        return torch.cat(cell(x, (state[:hidden], state[hidden:])))

    assert agrees_with(step, sequence, start, lstm_steps(layer, trace, start[hidden:]))


def lstm_case(length: int = 9, hidden: int = 5) -> tuple[LSTM, Tensor, LSTMSteps]:
    layer = LSTM(3, hidden, forget_bias=1.0, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    sequence = normal(5, length, 3)
    _, trace = layer(sequence)
    return layer, sequence, lstm_steps(layer, trace)


def test_rows_choose_what_is_derived() -> None:
    _, _, steps = lstm_case()
    whole = to_the_end(steps)
    assert torch.equal(
        torch.cat((to_the_end(steps, hidden_rows(steps)), to_the_end(steps, cell_rows(steps))), 1), whole
    )
    assert torch.equal(to_the_inputs(steps, cell_rows(steps)), to_the_inputs(steps)[:, 5:])


def test_the_products_keep_no_graph_of_what_made_the_trace() -> None:
    sequence = normal(0, 4, 3)
    rnn, lstm = RNN(3, 5, dtype=torch.float64), LSTM(3, 5, dtype=torch.float64)
    gru, cho = GRU(3, 5, dtype=torch.float64), GRU(3, 5, reset=reset_before, dtype=torch.float64)
    every: list[Steps] = [
        rnn_steps(rnn, rnn(sequence)[1]),
        gru_steps(gru, gru(sequence)[1]),
        gru_steps(cho, cho(sequence)[1]),
        lstm_steps(lstm, lstm(sequence)[1]),
    ]
    for steps in every:
        for product in (to_the_end(steps), from_the_start(steps), to_the_inputs(steps)):
            assert not product.requires_grad


def test_columns_choose_what_is_derived_by() -> None:
    _, _, steps = lstm_case()
    by_cell = from_the_start(steps, steps.identity[:, 5:])
    assert relative_differences(by_cell, from_the_start(steps)[:, :, 5:]).max().item() <= 1e-14


def test_without_the_way_through_h_the_gradient_of_the_cell_is_the_product_of_the_forget_gates() -> None:
    layer, sequence, _ = lstm_case()

    def read(cells: Tensor) -> Tensor:
        hidden, cell, read_cells = torch.zeros_like(cells), cells, []
        for projected in layer.project(sequence):
            step = remember(layer.gates(projected, hidden.detach()), cell)
            hidden, cell = step.hidden, step.cell
            read_cells.append(cell)
        return torch.stack(read_cells, dim=1)

    _, trace = layer(sequence)
    direct = direct_from_the_start(trace.forget_gate)
    detached = from_the_start_by_autograd(read, torch.zeros(5, dtype=torch.float64), 5, range(1, 10))
    assert (detached - torch.diag_embed(direct)).abs().max().item() <= 1e-15


def test_the_direct_path_is_the_same_product_from_either_end() -> None:
    gates = torch.rand(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert direct_to_the_end(gates)[0].tolist() == pytest.approx(direct_from_the_start(gates)[-1].tolist(), rel=1e-14)
    assert torch.equal(direct_to_the_end(gates)[-1], gates[-1])
    assert torch.equal(direct_from_the_start(gates)[0], gates[0])


def test_the_derivatives_by_the_inputs_equal_autograds() -> None:
    layer, sequence, steps = lstm_case()
    by_autograd = to_the_inputs_by_autograd(lambda copies: layer(copies)[0], sequence, 5)
    assert by_autograd.shape == (9, 5, 3)
    closed = to_the_inputs(steps, hidden_rows(steps))
    assert relative_differences(closed, by_autograd).max().item() <= 1e-13


def test_the_worked_example_multiplies_the_slopes_of_the_states() -> None:
    layer = RNN(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for weight, value in ((layer.input_weight, 1.0), (layer.state_weight, 0.5)):
            weight.fill_(value)
        layer.input_bias.zero_()
        layer.state_bias.zero_()
    hidden, trace = layer(torch.tensor([[1.0], [0.0], [-1.0]], dtype=torch.float64))
    assert [round(h, 4) for h in hidden.flatten().tolist()] == [0.7616, 0.3634, -0.6741]
    by_hidden = to_the_end(rnn_steps(layer, trace))
    assert round(by_hidden[1].item(), 4) == 0.1184


def test_an_exploding_product_is_infinite_and_no_error() -> None:
    layer = RNN(1, 2, activation=lambda a: a, dtype=torch.float64)
    with torch.no_grad():
        layer.state_weight.copy_(1e200 * torch.eye(2))
    _, trace = layer(torch.zeros(3, 1, dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    assert not to_the_end(rnn_steps(layer, trace, linear_slope))[0].isfinite().any()


def rnn_batch() -> Steps:
    layer = RNN(3, 5)
    return rnn_steps(layer, layer(torch.zeros(2, 4, 3))[1])


def gru_batch() -> Steps:
    layer = GRU(3, 5)
    return gru_steps(layer, layer(torch.zeros(2, 4, 3))[1])


def lstm_batch() -> Steps:
    layer = LSTM(3, 5)
    return lstm_steps(layer, layer(torch.zeros(2, 4, 3))[1])


@pytest.mark.parametrize("batch", [rnn_batch, gru_batch, lstm_batch])
def test_a_batch_is_refused_with_its_shape(batch: Callable[[], Steps]) -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 4, 5\); step Jacobians take one sequence, \(T, H\)"):
        batch()


def test_a_reset_of_ones_own_has_no_closed_form() -> None:
    layer = GRU(1, 1, reset=lambda reset, hidden, weight, bias: hidden)
    with pytest.raises(ValueError, match="the closed form knows reset_after and reset_before"):
        gru_steps(layer, layer(torch.zeros(2, 1))[1])
