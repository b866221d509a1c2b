"""Who depends on whom: one gradient per output position, and where it is not zero.

A position j cannot reach an output i exactly when ∂output_i/∂input_j = 0. The gradient of a random mixture of the
features of output_i is taken, in which only a chance of measure zero could cancel; masked attention gives exact zeros.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def influence(
    compute: Callable[[Tensor], Tensor],
    inputs: Tensor,
    generator: torch.Generator,
    check: Callable[[], None] = lambda: None,
) -> Tensor:
    """Return ‖∂(r · output_i)/∂input_j‖ for outputs (m, d_out) of inputs (n, d_in): (m, n).

    `check` is called before every row.
    """
    leaf = inputs.detach().requires_grad_()
    outputs = compute(leaf)  # (m, d_out)
    mixture = torch.randn(outputs.shape[1], generator=generator, dtype=outputs.dtype).to(outputs.device)
    mixed = outputs @ mixture  # (m,)
    rows = []
    for one in mixed:
        check()
        (gradient,) = torch.autograd.grad(one, leaf, retain_graph=True)
        rows.append(gradient.norm(dim=-1))  # (n,)
    return torch.stack(rows)
