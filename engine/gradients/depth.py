"""Gradients through depth: what arrives at every layer of a stack when the loss is at its top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class DepthTrace:
    """Of a stack of L layers: root mean square of the L + 1 activations (the input first), norm of the loss's gradient
    by each of them (L + 1,), and by all parameters of each layer together (L,); a layer without parameters has 0."""

    activation_rms: Tensor
    activation_gradients: Tensor
    parameter_gradients: Tensor


def through_depth(layers: Sequence[nn.Module], inputs: Tensor, loss: Callable[[Tensor], Tensor]) -> DepthTrace:
    """Run `inputs` through the layers, one after the other, and the loss back; `loss` maps the output to a number.

    A layer may return a tuple, as the layers of the course do: its first entry goes on.
    """
    activations = [inputs.detach().requires_grad_()]
    for layer in layers:
        output = layer(activations[-1])
        activations.append(output[0] if isinstance(output, tuple) else output)
    parameters = [[weight for weight in layer.parameters() if weight.requires_grad] for layer in layers]
    wanted = [*activations, *(weight for own in parameters for weight in own)]
    gradients = torch.autograd.grad(loss(activations[-1]), wanted, allow_unused=True, materialize_grads=True)
    by_parameter = iter(gradients[len(activations) :])
    return DepthTrace(
        activation_rms=torch.stack([activation.detach().square().mean().sqrt() for activation in activations]),
        activation_gradients=torch.stack([gradient.norm() for gradient in gradients[: len(activations)]]),
        parameter_gradients=torch.stack([_norm([next(by_parameter) for _ in own], inputs) for own in parameters]),
    )


def _norm(tensors: Sequence[Tensor], like: Tensor) -> Tensor:
    if not tensors:
        return like.new_zeros(())
    norm: Tensor = torch.linalg.vector_norm(torch.stack([tensor.norm() for tensor in tensors]))
    return norm
