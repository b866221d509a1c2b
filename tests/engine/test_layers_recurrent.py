"""RNN, LSTM and GRU: equal to torch.nn's, to the hand-worked cases of the lessons, and clear about wrong shapes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.layers.bidirectional import Bidirectional, reverse_time
from engine.layers.gru import GRU, keep, replace, reset_after, reset_before
from engine.layers.lstm import LSTM, LSTMGates, remember
from engine.layers.rnn import RNN
from tests.engine.agreement import agreement, copy_recurrent, normal, seeded

sizes = st.tuples(*(st.integers(1, 6) for _ in range(4)))  # batch, steps, inputs, hidden
seeds = st.integers(0, 9999)
float64 = torch.float64


def test_rnn_equals_torch() -> None:
    with agreement("torch.nn.RNN") as agree:

        @given(sizes, st.sampled_from(["tanh", "relu"]), seeds)
        def check(size: tuple[int, int, int, int], activation: str, seed: int) -> None:
            batch, steps, inputs, hidden = size
            generator = seeded(seed)
            theirs = nn.RNN(inputs, hidden, batch_first=True, nonlinearity=activation, dtype=float64)
            ours = RNN(inputs, hidden, activation=getattr(torch, activation), dtype=float64)
            copy_recurrent(ours, theirs)
            x, start = normal(generator, batch, steps, inputs), normal(generator, batch, hidden)
            agree(ours(x)[0], theirs(x)[0])
            agree(ours(x, start)[0], theirs(x, start[None])[0])

        check()


def test_lstm_equals_torch() -> None:
    with agreement("torch.nn.LSTM") as agree:

        @given(sizes, seeds)
        def check(size: tuple[int, int, int, int], seed: int) -> None:
            batch, steps, inputs, hidden = size
            generator = seeded(seed)
            theirs = nn.LSTM(inputs, hidden, batch_first=True, dtype=float64)
            ours = LSTM(inputs, hidden, dtype=float64)
            copy_recurrent(ours, theirs)
            x = normal(generator, batch, steps, inputs)
            start, start_cell = normal(generator, 2, batch, hidden)
            states, trace = ours(x, start, start_cell)
            expected, (last_hidden, last_cell) = theirs(x, (start[None], start_cell[None]))
            agree(states, expected)
            agree(trace.hidden[:, -1], last_hidden[0])
            agree(trace.cell[:, -1], last_cell[0])
            agree(ours(x)[0], theirs(x)[0])

        check()


def test_gru_equals_torch() -> None:
    with agreement("torch.nn.GRU") as agree:

        @given(sizes, seeds)
        def check(size: tuple[int, int, int, int], seed: int) -> None:
            batch, steps, inputs, hidden = size
            generator = seeded(seed)
            theirs = nn.GRU(inputs, hidden, batch_first=True, dtype=float64)
            ours = GRU(inputs, hidden, dtype=float64)
            copy_recurrent(ours, theirs)
            x, start = normal(generator, batch, steps, inputs), normal(generator, batch, hidden)
            agree(ours(x)[0], theirs(x)[0])
            agree(ours(x, start)[0], theirs(x, start[None])[0])

        check()


def test_bidirectional_equals_torch_on_packed_sequences() -> None:
    with agreement("torch.nn.GRU, bidirectional, packed") as agree:

        @given(sizes, seeds)
        def check(size: tuple[int, int, int, int], seed: int) -> None:
            batch, steps, inputs, hidden = size
            generator = seeded(seed)
            theirs = nn.GRU(inputs, hidden, batch_first=True, bidirectional=True, dtype=float64)
            layers = [GRU(inputs, hidden, dtype=float64) for _ in range(2)]
            for layer, suffix in zip(layers, ("", "_reverse"), strict=True):
                copy_recurrent(layer, theirs, suffix)
            x = normal(generator, batch, steps, inputs)
            lengths = torch.randint(1, steps + 1, (batch,), generator=generator)
            kept = torch.arange(steps) < lengths[:, None]
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            expected, _ = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True, total_length=steps)
            joined, _ = Bidirectional(*layers)(x, kept)
            agree(joined * kept[..., None], expected)

        check()


@pytest.mark.parametrize("layer", [RNN, LSTM, GRU])
def test_any_leading_dimensions_give_the_same_states(layer: type[nn.Module]) -> None:
    module = layer(3, 5, generator=seeded(1), dtype=float64)
    x = normal(seeded(2), 2, 4, 6, 3)
    states, trace = module(x)
    assert states.shape == trace.hidden.shape == (2, 4, 6, 5)
    torch.testing.assert_close(module(x[1, 3])[0], states[1, 3], rtol=0, atol=1e-14)


@pytest.mark.parametrize("layer", [RNN, LSTM, GRU])
def test_later_inputs_do_not_change_earlier_states_at_all(layer: type[nn.Module]) -> None:
    module = layer(3, 5, generator=seeded(1), dtype=float64)
    x = normal(seeded(2), 6, 3)
    changed = x.clone()
    changed[4:] = 7.0
    assert torch.equal(module(x)[0][:4], module(changed)[0][:4])
    assert not torch.equal(module(x)[0][4:], module(changed)[0][4:])


@pytest.mark.parametrize("layer", [RNN, LSTM, GRU])
def test_the_same_seed_draws_the_same_start_within_its_bound(layer: type[nn.Module]) -> None:
    one, other = (layer(7, 16, generator=seeded(3)) for _ in range(2))
    for name, parameter in one.named_parameters():
        assert torch.equal(parameter, other.get_parameter(name))
        assert 0.2 < parameter.abs().max() <= 0.25  # 1/√16


@pytest.mark.parametrize("layer", [RNN, LSTM, GRU])
def test_wrong_shapes_are_named_in_one_sentence(layer: type[nn.Module]) -> None:
    module = layer(3, 5)
    with pytest.raises(ValueError, match=r"the inputs have shape \(2, 4\); this layer reads \(…, T, 3\)"):
        module(torch.zeros(2, 4))
    with pytest.raises(ValueError, match=r"shape \(2, 0, 3\): a sequence needs at least one step"):
        module(torch.zeros(2, 0, 3))
    with pytest.raises(ValueError, match=r"the start state has shape \(1, 5\); for these inputs it must be \(2, 5\)"):
        module(torch.zeros(2, 4, 3), torch.zeros(1, 5))


def test_weights_are_one_three_and_four_times_those_of_the_rnn() -> None:
    counts = [sum(p.numel() for p in layer(32, 64).parameters()) for layer in (RNN, GRU, LSTM)]
    assert counts == [6272, 18816, 25088]


def test_rnn_worked_example_of_the_lesson() -> None:
    layer = RNN(2, 2, dtype=float64)
    with torch.no_grad():
        layer.input_weight.copy_(0.5 * torch.eye(2))
        layer.state_weight.copy_(torch.tensor([[0.5, -0.5], [0.5, 0.5]]))
        layer.input_bias.zero_()
        layer.state_bias.zero_()
    states, trace = layer(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=float64))
    expected = torch.tensor([[0.4621, 0.0], [0.2270, 0.6237], [0.2928, 0.7284]], dtype=float64)
    torch.testing.assert_close(states, expected, rtol=0, atol=5e-5)
    assert torch.equal(trace.pre_activation.tanh(), states)


def test_lstm_worked_example_of_the_lesson() -> None:
    layer = LSTM(1, 1, dtype=float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.input_bias.copy_(torch.tensor([0.0, 1.0, 0.5, 2.0]))  # i, f, g, o
    start_cell = torch.ones(1, dtype=float64)
    _, trace = layer(torch.zeros(1, 1, dtype=float64), start_cell=start_cell)
    found = [getattr(trace, name).item() for name in trace.__dataclass_fields__]
    assert found == pytest.approx([0.5, 0.7311, 0.4621, 0.8808, 0.9621, 0.6564], abs=5e-5)


def test_a_forget_gate_of_one_and_an_input_gate_of_zero_carry_the_cell_unchanged() -> None:
    cell = normal(seeded(0), 4)
    one, zero = torch.ones_like(cell), torch.zeros_like(cell)
    assert torch.equal(remember(LSTMGates(zero, one, normal(seeded(1), 4), one), cell).cell, cell)


def test_the_forget_bias_is_the_whole_bias_of_the_forget_gate() -> None:
    layer = LSTM(3, 4, forget_bias=2.5)
    total = layer.input_bias + layer.state_bias
    assert torch.equal(total[4:8], torch.full((4,), 2.5))
    assert total[:4].abs().max() <= 1.0
    assert total[8:].abs().max() <= 1.0
    assert total[:4].std() > 0


def test_the_update_bias_is_the_whole_bias_of_the_update_gate() -> None:
    layer = GRU(3, 4, update_bias=-1.5)
    assert torch.equal((layer.input_bias + layer.state_bias)[4:8], torch.full((4,), -1.5))


def scalar(value: float) -> Tensor:
    return torch.tensor([value], dtype=float64)


def test_the_two_places_of_the_reset_gate_as_in_the_lesson() -> None:
    weight, bias = torch.tensor([[0.9]], dtype=float64), scalar(0.3)
    before = torch.tanh(reset_before(scalar(0.5), scalar(0.8), weight, bias))
    after = torch.tanh(reset_after(scalar(0.5), scalar(0.8), weight, bias))
    assert before.item() == pytest.approx(0.5784, abs=5e-5)
    assert after.item() == pytest.approx(0.4699, abs=5e-5)


def test_the_two_meanings_of_z_as_in_the_lesson() -> None:
    assert replace(scalar(0.25), scalar(0.8), scalar(-0.4)).item() == pytest.approx(0.5)
    assert keep(scalar(0.25), scalar(0.8), scalar(-0.4)).item() == pytest.approx(-0.1)


def test_an_open_reset_gate_makes_both_conventions_equal_and_a_half_open_one_does_not() -> None:
    x = normal(seeded(5), 6, 3)
    difference = {}
    for bias in (60.0, 0.0):
        states = []
        for reset in (reset_before, reset_after):
            layer = GRU(3, 4, reset=reset, generator=seeded(4), dtype=float64)
            with torch.no_grad():
                layer.input_bias[:4] = bias
            states.append(layer(x)[0])
        difference[bias] = (states[0] - states[1]).abs().max().item()
    assert difference[60.0] <= 1e-12
    assert difference[0.0] > 1e-3


def test_negating_the_update_gate_turns_keep_into_replace() -> None:
    x = normal(seeded(5), 6, 3)
    keeps = GRU(3, 4, update=keep, generator=seeded(4), dtype=float64)
    replaces = GRU(3, 4, update=replace, generator=seeded(4), dtype=float64)
    with torch.no_grad():
        for parameter in replaces.parameters():
            parameter[4:8].neg_()  # z becomes σ(−a) = 1 − z
    torch.testing.assert_close(replaces(x)[0], keeps(x)[0], rtol=0, atol=1e-14)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_reversing_twice_gives_the_sequence_back(lengths: list[int]) -> None:
    sequence = normal(seeded(0), len(lengths), 7, 2)
    kept = torch.arange(7) < torch.tensor(lengths)[:, None]
    once = reverse_time(sequence, kept)
    assert torch.equal(reverse_time(once, kept), sequence)
    for row, length in enumerate(lengths):
        assert torch.equal(once[row, :length], sequence[row, :length].flip(0))
        assert torch.equal(once[row, length:], sequence[row, length:])


@pytest.mark.parametrize("layer", [RNN, LSTM, GRU])
def test_a_layer_on_the_meta_device_has_shapes_and_no_numbers(layer: type[nn.Module]) -> None:
    module = layer(3, 5, device="meta")
    assert all(parameter.is_meta for parameter in module.parameters())
    assert module(torch.zeros(2, 4, 3, device="meta"))[0].shape == (2, 4, 5)
