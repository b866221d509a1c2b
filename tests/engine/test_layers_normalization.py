"""LayerNorm and RMSNorm: equal to torch's, and what the lesson says about ε, shift and scale."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from engine.layers.normalization import LayerNorm, RMSNorm
from tests.engine.agreement import agreement, normal, seeded
from tests.engine.twins import copy, copy_norm, scramble

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4)
seeds = st.integers(0, 9999)
eps = st.sampled_from([1e-5, 1e-12, 0.1])
float64 = torch.float64


def test_layer_norm_equals_torch() -> None:
    with agreement("torch.nn.LayerNorm") as agree:

        @given(shapes, eps, seeds)
        def check(shape: list[int], epsilon: float, seed: int) -> None:
            theirs = nn.LayerNorm(shape[-1], eps=epsilon, dtype=float64)
            scramble(theirs, seeded(seed))
            ours = LayerNorm(shape[-1], eps=epsilon).double()
            copy_norm(ours, theirs)
            inputs = 3 * normal(seeded(seed + 1), *shape) + 2
            agree(ours(inputs)[0], theirs(inputs))

        check()


def test_rms_norm_equals_torch() -> None:
    with agreement("torch.nn.RMSNorm") as agree:

        @given(shapes, eps, seeds)
        def check(shape: list[int], epsilon: float, seed: int) -> None:
            theirs = nn.RMSNorm(shape[-1], eps=epsilon, dtype=float64)
            scramble(theirs, seeded(seed))
            ours = RMSNorm(shape[-1], eps=epsilon).double()
            copy([(ours.gain, theirs.weight)])
            inputs = 3 * normal(seeded(seed + 1), *shape) + 2
            agree(ours(inputs)[0], theirs(inputs))

        check()


def test_worked_example_of_the_lesson() -> None:
    output, trace = LayerNorm(4)(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert output.tolist() == pytest.approx([-1.3416, -0.4472, 0.4472, 1.3416], abs=5e-5)
    assert (trace.mean.item(), trace.variance.item()) == (2.5, 1.25)


@pytest.mark.parametrize(("std", "expected"), [(1e-3, 0.3015), (1e-5, 0.0032)])
def test_epsilon_inside_the_root_flattens_nearly_constant_rows(std: float, expected: float) -> None:
    row = std * torch.tensor([1.0, -1.0], dtype=float64)
    assert LayerNorm(2).double()(row)[0].std(correction=0).item() == pytest.approx(expected, abs=5e-5)


@given(seeds, st.floats(0.01, 100), st.floats(-100, 100))
def test_layer_norm_forgets_shift_and_positive_scale(seed: int, scale: float, shift: float) -> None:
    layer, row = LayerNorm(8, eps=0.0).double(), normal(seeded(seed), 8)
    torch.testing.assert_close(layer(scale * row + shift)[0], layer(row)[0], rtol=0, atol=1e-9)
    torch.testing.assert_close(layer(-row)[0], -layer(row)[0], rtol=0, atol=1e-12)


def test_each_token_is_normalized_by_itself() -> None:
    layer, tokens = LayerNorm(6).double(), normal(seeded(0), 4, 6)
    changed = tokens.clone()
    changed[2] = 50.0
    same = [0, 1, 3]
    assert torch.equal(layer(changed)[0][same], layer(tokens)[0][same])


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_wrong_width_is_named(norm: type[nn.Module]) -> None:
    with pytest.raises(ValueError, match=r"the input has shape \(2, 5\); this norm has one gain for each of 4"):
        norm(4)(torch.zeros(2, 5))
