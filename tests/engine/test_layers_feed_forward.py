"""The feed-forward network and its activations, against torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from engine.layers.activations import gelu, gelu_tanh, relu
from engine.layers.feed_forward import FeedForward
from tests.engine.agreement import agreement, normal, seeded
from tests.engine.twins import copy_feed_forward

float64 = torch.float64
Function = Callable[[Tensor], Tensor]


def normal_distribution(a: Tensor) -> Tensor:
    """Φ(a), from the error function."""
    return 0.5 * (1 + torch.erf(a / math.sqrt(2)))


def by_tanh(a: Tensor) -> Tensor:
    """The approximation of Φ(a) that GPT-2 uses."""
    return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))


FORMULAS: dict[str, tuple[Function, Function]] = {
    "relu": (relu, lambda a: a * (a > 0)),
    "gelu": (gelu, lambda a: a * normal_distribution(a)),
    "gelu tanh": (gelu_tanh, lambda a: a * by_tanh(a)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_activation_and_its_derivative_are_those_of_the_formula(name: str) -> None:
    ours, formula = FORMULAS[name]
    a = torch.linspace(-12, 12, 2402, dtype=float64)  # an even number of points: none at the kink of ReLU
    with agreement(f"{name}, the formula written out") as agree:
        agree(ours(a), formula(a))
        slopes = [torch.func.vmap(torch.func.grad(function))(a) for function in (ours, formula)]
        agree(*slopes)


def test_the_two_gelus_part_by_less_than_five_ten_thousandths() -> None:
    a = torch.linspace(-6, 6, 100_001, dtype=float64)
    error = (gelu(a) - gelu_tanh(a)).abs()
    assert error.max().item() == pytest.approx(4.732e-4, abs=5e-7)
    assert a[error.argmax()].abs().item() == pytest.approx(2.699, abs=5e-4)


@pytest.mark.parametrize("name", FORMULAS)
def test_feed_forward_equals_two_linears_of_torch(name: str) -> None:
    activation, formula = FORMULAS[name]
    with agreement(f"torch.nn.Linear twice, {name}") as agree:

        @given(st.tuples(*(st.integers(1, 6) for _ in range(4))), st.booleans(), st.integers(0, 9999))
        def check(size: tuple[int, int, int, int], bias: bool, seed: int) -> None:
            batch, length, width, inner = size
            expand, contract = (
                nn.Linear(width, inner, bias, dtype=float64),
                nn.Linear(inner, width, bias, dtype=float64),
            )
            ours = FeedForward(width, inner, activation=activation, bias=bias).double()
            copy_feed_forward(ours, expand, contract)
            inputs = normal(seeded(seed), batch, length, width)
            output, trace = ours(inputs)
            agree(output, contract(formula(expand(inputs))))
            agree(trace.activated, formula(trace.pre_activation))

        check()


def test_positions_do_not_mix() -> None:
    layer, inputs = FeedForward(4, 8, generator=seeded(0)).double(), normal(seeded(1), 5, 4)
    changed = inputs.clone()
    changed[3] = 9.0
    assert torch.equal(layer(changed)[0][:3], layer(inputs)[0][:3])
    assert not torch.equal(layer(changed)[0][3], layer(inputs)[0][3])


def test_the_start_is_torchs_and_fixed_by_the_seed() -> None:
    one, other = (FeedForward(16, 64, generator=seeded(3)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert 0.24 < one.expand.weight.abs().max() <= 0.25
    assert 0.12 < one.contract.weight.abs().max() <= 0.125


def test_a_wrong_width_is_named() -> None:
    with pytest.raises(ValueError, match=r"the input has shape \(2, 5\); this network reads \(…, n, 4\)"):
        FeedForward(4, 8)(torch.zeros(2, 5))
