"""What a learner's module or function may want to read: token numbers, or one vector a token, of a width it has."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from engine.contract.message import Message, say
from engine.labs.base import Context

PLAIN_WIDTH = 16  # for functions, which do not say how wide their vectors are


@dataclass(frozen=True)
class Inputs:
    """The arguments of a call, and what they are in words."""

    arguments: tuple[Any, ...]
    words: Message

    @property
    def differentiable(self) -> list[Tensor]:
        """The arguments that have gradients."""
        return [one for one in self.arguments if isinstance(one, Tensor) and one.is_floating_point()]


def candidates(call: Callable[..., Any], tokens: list[str], seed: int) -> Iterator[Inputs]:
    """Yield inputs to try, the likeliest first: (1, n) numbers, (1, n, width) vectors, then without the batch."""
    module = call if isinstance(call, nn.Module) else None
    embedding = next((part for part in module.modules() if isinstance(part, nn.Embedding)), None) if module else None
    if embedding is not None:
        numbers = torch.tensor([[zlib.crc32(token.encode()) % embedding.num_embeddings for token in tokens]])
        shapes = say(
            "token numbers {shape}, below {vocabulary}",
            shape=str(tuple(numbers.shape)),
            vocabulary=embedding.num_embeddings,
        )
        yield Inputs(_arguments(call, numbers), shapes)
    for width in _widths(module):
        vectors = Context(seed=seed).word_vectors(tokens, width).float()  # (n, width)
        for shaped in (vectors[None], vectors):
            yield Inputs(_arguments(call, shaped), say("one vector a token, {shape}", shape=str(tuple(shaped.shape))))
    if embedding is not None:
        yield Inputs(_arguments(call, numbers[0]), say("token numbers {shape}", shape=str(tuple(numbers[0].shape))))


def _arguments(call: Callable[..., Any], tensor: Tensor) -> tuple[Any, ...]:
    """Give the tensor to every parameter that must be given, and no mask to those called so."""
    forward = call.forward if isinstance(call, nn.Module) else call
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [one for one in inspect.signature(forward).parameters.values() if one.kind in kinds]
    needed = [one.name for one in parameters if one.default is one.empty] or ["x"]
    return tuple(None if "mask" in name else tensor for name in needed)


def _widths(module: nn.Module | None) -> list[int]:
    """Return the input widths of the module's parts, first to last, each once."""
    if module is None:
        return [PLAIN_WIDTH]
    found: list[int] = []
    for part in module.modules():
        widths = (getattr(part, name, None) for name in ("in_features", "embed_dim", "input_size"))
        found += [width for width in widths if isinstance(width, int)]
        if isinstance(part, nn.LayerNorm):
            found.append(part.normalized_shape[-1])
    for parameter in module.parameters():  # a matrix of its own
        if parameter.dim() == 2:
            found += [parameter.shape[1], parameter.shape[0]]
    return list(dict.fromkeys(found))[:8] or [PLAIN_WIDTH]
