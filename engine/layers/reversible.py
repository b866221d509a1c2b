"""Residual layers whose inputs follow from their outputs (RevNet: Gomez et al., 2017; Reformer: Kitaev et al., 2020).

    y_1 = x_1 + F(x_2)      y_2 = x_2 + G(y_1)
    x_2 = y_2 − G(y_1)      x_1 = y_1 − F(x_2)

Training need not store the activations between layers: they are computed back, one more time. F is attention, G the
feed-forward network; neither needs an inverse of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

Half = Callable[[Tensor], Tensor]


def forward(first: Tensor, second: Tensor, attention: Half, feed_forward: Half) -> tuple[Tensor, Tensor]:
    """Return y_1 and y_2 of x_1 and x_2, all of one shape."""
    new_first = first + attention(second)
    return new_first, second + feed_forward(new_first)


def backward(first: Tensor, second: Tensor, attention: Half, feed_forward: Half) -> tuple[Tensor, Tensor]:
    """Return x_1 and x_2 of y_1 and y_2."""
    old_second = second - feed_forward(first)
    return first - attention(old_second), old_second
