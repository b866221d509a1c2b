"""Writing a text token by token: what to write next, and the loop around it.

    greedy     the most probable token
    sampled    a draw from softmax(z/τ), after top-k (the k most probable) or top-p (the fewest whose sum reaches p)

Fan et al., Hierarchical Neural Story Generation, 2018 (top-k); Holtzman et al., The Curious Case of Neural Text
Degeneration, 2020 (top-p).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor

Cache = TypeVar("Cache")
Choose = Callable[[Tensor], Tensor]
Step = Callable[[Tensor, "Cache | None"], tuple[Tensor, Cache]]


@torch.no_grad()
def generate(
    step: Step[Cache],
    prompt: Tensor,
    length: int,
    choose: Choose,
    *,
    stop: int | None = None,
    cached: bool = True,
) -> Iterator[Tensor]:
    """Yield up to `length` tokens (…) that follow the prompt (…, n).

    `step` reads tokens and what it remembers, and returns the logits (…, V) of the next token and what to remember.
    Without `cached` it reads the whole text every time instead. A text that has written `stop` goes on with it; when
    all have, the generation ends.
    """
    text, unread, memory = prompt, prompt, None
    finished = torch.zeros(prompt.shape[:-1], dtype=torch.bool, device=prompt.device)
    for _ in range(length):
        logits, remembered = step(unread, memory)
        chosen = choose(logits)  # (…)
        if stop is not None:
            chosen = chosen.masked_fill(finished, stop)
            finished = finished | (chosen == stop)
        yield chosen
        if finished.all():
            return
        text = torch.cat((text, chosen.unsqueeze(-1)), dim=-1)  # (…, n + 1)
        unread, memory = (text[..., -1:], remembered) if cached else (text, None)


def greedy(logits: Tensor) -> Tensor:
    """Return the most probable token of each row of logits (…, V), (…)."""
    return logits.argmax(dim=-1)


def sampled(
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
) -> Choose:
    """Return a way to choose tokens by chance; temperature 0 is greedy."""
    if temperature == 0:
        return greedy

    def choose(logits: Tensor) -> Tensor:
        probabilities = next_token_probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)  # (…, V)
        drawn = torch.multinomial(
            probabilities.reshape(-1, logits.shape[-1]).cpu(), 1, generator=generator
        )  # (rows, 1)
        return drawn.reshape(logits.shape[:-1]).to(logits.device)

    return choose


def next_token_probabilities(
    logits: Tensor, *, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0
) -> Tensor:
    """Return the probabilities (…, V) that tokens are drawn from; those cut away are 0, the others sum to 1.

    Raises ValueError for a temperature that is not above 0, k below 1 or p outside (0, 1].
    """
    if not temperature > 0:
        raise ValueError(f"the temperature is {temperature}; it must be above 0 (0 itself means greedy)")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top-k is {top_k}; at least one token must remain")
    if not 0 < top_p <= 1:
        raise ValueError(f"top-p is {top_p}; it must be above 0 and at most 1")
    ordered, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)  # each (…, V)
    if top_k is not None:
        ordered[..., top_k:] = -math.inf
    probabilities = torch.softmax(ordered, dim=-1)  # (…, V), largest first
    if top_p < 1:
        before = probabilities.cumsum(dim=-1) - probabilities  # the sum of all larger ones
        probabilities = probabilities.masked_fill(before >= top_p, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return torch.empty_like(probabilities).scatter(-1, order, probabilities)
