"""Who depends on whom: the gradient of every output position, and where it is not zero.

A position j cannot reach an output i exactly when ∂output_i/∂input_j = 0. The gradient of a random mixture of the
features of output_i is taken, in which only a chance of measure zero could cancel; masked attention gives exact zeros.
As in `autograd`, copy i of the inputs derives output i, so that one pass gives all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def influence(compute: Callable[[Tensor], Tensor], inputs: Tensor, generator: torch.Generator) -> Tensor:
    """Return ‖∂(r · output_i)/∂input_j‖ for the n positions of `inputs` (n, d), outputs in rows: (n, n).

    `compute` turns a batch (n, n, d) into outputs (n, n, d_out).
    """
    copies = inputs.detach().expand(len(inputs), -1, -1).clone().requires_grad_()  # (copy, n, d)
    outputs = compute(copies)
    mixture = torch.randn(outputs.shape[-1], generator=generator, dtype=outputs.dtype).to(outputs.device)
    own = (outputs @ mixture).diagonal()  # output i of copy i, (n,)
    (gradient,) = torch.autograd.grad(own.sum(), copies)
    sizes: Tensor = gradient.norm(dim=-1)
    return sizes
