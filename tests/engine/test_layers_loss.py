"""Cross-entropy with label smoothing against torch's, and the worked example."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from engine.layers.loss import cross_entropy
from tests.engine.agreement import agreement, normal, seeded

float64 = torch.float64


def test_equals_torch_with_smoothing_and_ignored_positions() -> None:
    with agreement("torch.nn.functional.cross_entropy") as agree:

        @given(
            st.integers(1, 4),
            st.integers(1, 5),
            st.integers(1, 6),
            st.sampled_from([0.0, 0.1, 0.3]),
            st.integers(0, 99),
        )
        def check(batch: int, length: int, classes: int, smoothing: float, seed: int) -> None:
            generator = seeded(seed)
            logits = 3 * normal(generator, batch, length, classes)
            targets = torch.randint(0, classes, (batch, length), generator=generator)
            targets[torch.rand(batch, length, generator=generator) < 0.3] = -100
            targets[0, 0] = 0
            loss, trace = cross_entropy(logits, targets, smoothing=smoothing)
            flat, flat_targets = logits.flatten(0, 1), targets.flatten()
            agree(loss, F.cross_entropy(flat, flat_targets, label_smoothing=smoothing))
            each = F.cross_entropy(flat, flat_targets, label_smoothing=smoothing, reduction="none")
            agree(trace.losses.flatten(), each)
            assert torch.equal(trace.counted, targets != -100)

        check()


def test_worked_example_of_the_lesson() -> None:
    logits = torch.tensor([0.7, 0.1, 0.1, 0.05, 0.05], dtype=float64).log()
    hard, _ = cross_entropy(logits, torch.tensor(0))
    smoothed, _ = cross_entropy(logits, torch.tensor(0), smoothing=0.1)
    best = torch.tensor([0.92] + [0.02] * 4, dtype=float64)
    minimum, _ = cross_entropy(best.log(), torch.tensor(0), smoothing=0.1)
    assert (hard.item(), smoothed.item(), minimum.item()) == pytest.approx((0.3567, 0.5401, 0.3897), abs=5e-5)


def test_an_untrained_guess_among_k_costs_ln_k() -> None:
    assert cross_entropy(torch.zeros(3, 27, dtype=float64), torch.tensor([0, 5, 26]))[0].item() == pytest.approx(
        math.log(27)
    )


def test_ignored_positions_have_no_gradient() -> None:
    logits = normal(seeded(0), 3, 4).requires_grad_()
    loss, _ = cross_entropy(logits, torch.tensor([1, -100, 2]), smoothing=0.1)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert (gradient[1] == 0).all()
    assert (gradient[[0, 2]] != 0).all()


def test_targets_that_cannot_be_are_named() -> None:
    logits = torch.zeros(2, 4)
    with pytest.raises(ValueError, match="target 4 is none of the 4 classes"):
        cross_entropy(logits, torch.tensor([0, 4]))
    with pytest.raises(ValueError, match="none of the 2 positions has a target"):
        cross_entropy(logits, torch.tensor([-100, -100]))
    with pytest.raises(ValueError, match=r"logits \(2, 4\) want targets \(2,\), not \(3,\)"):
        cross_entropy(logits, torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match=r"label smoothing is 1\.5"):
        cross_entropy(logits, torch.tensor([0, 1]), smoothing=1.5)
