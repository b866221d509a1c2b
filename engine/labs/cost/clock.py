"""How long a training step takes on one core: forward and backward of torch's own LSTM and encoder layer."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor, nn

from engine.contract.labs.cost import ROUNDS, TIMED_HEADS, TIMED_WIDTH
from engine.contract.message import say
from engine.contract.report import Progress
from engine.labs.base import Context

LENGTHS = (16, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Times:
    """Milliseconds of a step (median of the rounds) on one device, for every length."""

    device: str
    lengths: list[int]
    lstm: list[float]
    encoder: list[float]


def measure(longest: int, device: str, context: Context) -> Generator[Progress, None, Times]:
    """Time both layers for lengths up to `longest`, in turns, so that a busy moment of the machine meets both."""
    lengths = sorted({n for n in LENGTHS if n < longest} | {longest})
    lstm = nn.LSTM(TIMED_WIDTH, TIMED_WIDTH, batch_first=True).to(device)
    encoder = nn.TransformerEncoderLayer(TIMED_WIDTH, TIMED_HEADS, 4 * TIMED_WIDTH, 0.0, batch_first=True).to(device)
    times = Times(device, lengths, [], [])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a notebook may have more
    try:
        for index, n in enumerate(lengths):
            tokens = torch.randn(1, n, TIMED_WIDTH, generator=context.generator("tokens")).to(device)
            rounds: list[tuple[float, float]] = []
            for number in range(ROUNDS + 1):
                context.check()
                rounds.append((_step(lstm, tokens, device), _step(encoder, tokens, device)))
                if number % 4 == 0:
                    fraction = (index + number / (ROUNDS + 1)) / len(lengths)
                    yield Progress(fraction, say("timing n = {n} on {device}", n=n, device=device))
            times.lstm.append(median(first for first, _ in rounds[1:]))  # the first round warms up
            times.encoder.append(median(second for _, second in rounds[1:]))
    finally:
        torch.set_num_threads(threads)
    return times


def _step(layer: nn.Module, tokens: Tensor, device: str) -> float:
    """Return the milliseconds of one forward and backward pass."""
    start = time.perf_counter()
    output = layer(tokens)
    states: Tensor = output[0] if isinstance(output, tuple) else output
    torch.autograd.backward(states.sum())
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device == "mps":
        torch.mps.synchronize()
    return (time.perf_counter() - start) * 1e3
