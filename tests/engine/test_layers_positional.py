"""Sinusoidal positions: the numbers of the paper's formula."""

from __future__ import annotations

import math

import pytest
import torch

from engine.layers.positional import sinusoidal


@pytest.mark.parametrize("width", [1, 2, 4, 6, 7, 128])
def test_every_entry_follows_the_formula_for_even_and_odd_widths(width: int) -> None:
    encoding = sinusoidal(6, width)
    for position in range(6):
        for column in range(width):
            angle = position / 10_000 ** (2 * (column // 2) / width)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert encoding[position, column].item() == pytest.approx(expected, abs=1e-14)


def test_the_norm_of_an_even_width_is_half_the_width() -> None:
    assert (sinusoidal(50, 128).square().sum(-1) - 64).abs().max().item() <= 64e-12


def test_an_offset_continues_the_same_positions() -> None:
    assert torch.equal(sinusoidal(10, 16)[4:], sinusoidal(6, 16, offset=4))


def test_width_4_gives_the_worked_rows() -> None:
    rows = [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]]
    assert [[round(x, 4) for x in row] for row in sinusoidal(3, 4).tolist()] == rows
