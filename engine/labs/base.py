"""What every lab's computation shares: its context, its random streams, arrays for the report, checked statements."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.report import Array, Invariant

_DTYPES = {torch.float64: "float64", torch.float32: "float32", torch.int64: "int64", torch.bool: "bool"}


class Cancelled(Exception):
    """Raised inside a lab when its run was told to stop."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Context:
    """Where and how a lab runs; `language` chooses the lab's own data (a sample sentence), never a translation."""

    device: str = "cpu"
    seed: int = 0
    language: str = "en"
    should_stop: Callable[[], bool] = _never

    def generator(self, purpose: str) -> torch.Generator:
        """Return the CPU generator of one purpose ("weights", "word the"): separate streams, equal in every process."""
        stream = zlib.crc32(f"{purpose}\0{self.seed}".encode("utf-8", "surrogatepass"))
        return torch.Generator().manual_seed(stream)

    def normal(self, purpose: str, *shape: int) -> Tensor:
        """Return float64 draws of N(0, 1) from the stream of `purpose`."""
        return torch.randn(*shape, generator=self.generator(purpose), dtype=torch.float64)

    def word_vectors(self, tokens: Sequence[str], width: int) -> Tensor:
        """Return one vector of N(0, 1) entries per token, the same for the same word, (len(tokens), width)."""
        return torch.stack([self.normal(f"word {token}", width) for token in tokens])

    def check(self) -> None:
        """Raise Cancelled when the run was told to stop; a lab calls this every 10 ms of work."""
        if self.should_stop():
            raise Cancelled


def array(tensor: Tensor) -> Array:
    """Return a tensor as the report carries it."""
    plain = tensor.detach().cpu().contiguous()
    return Array(_DTYPES[plain.dtype], tuple(plain.shape), plain.numpy().tobytes())  # type: ignore[arg-type]


def entropy(weights: Tensor) -> Tensor:
    """Return −Σ p ln p along the last dimension, in nats, with 0·ln 0 = 0: (…, n) → (…)."""
    return -torch.xlogy(weights, weights).sum(-1)


def largest(difference: Tensor) -> float:
    """Return the largest absolute entry (0 for an empty tensor)."""
    return difference.abs().max().item() if difference.numel() else 0.0


def close(name: Message, difference: Tensor | float, tolerance: float) -> Invariant:
    """State that a difference of quantities of size about 1 stays within `tolerance`."""
    error = largest(difference) if isinstance(difference, Tensor) else abs(difference)
    detail = say("largest difference {error:.1e}, allowed {tolerance:.0e}", error=error, tolerance=tolerance)
    return Invariant(name, error <= tolerance, detail)


def equal(name: Message, one: Tensor, other: Tensor, relative: float) -> Invariant:
    """State that ‖one − other‖ ≤ relative · ‖other‖."""
    size = max(other.norm().item(), 1e-300)
    error = (one - other).norm().item() / size
    detail = say("relative difference {error:.1e}, allowed {tolerance:.0e}", error=error, tolerance=relative)
    return Invariant(name, error <= relative, detail)


def at_most(name: Message, value: float, bound: float) -> Invariant:
    """State that value ≤ bound, up to rounding."""
    detail = say("{value:.6g} against the bound {bound:.6g}", value=value, bound=bound)
    return Invariant(name, value <= bound * (1 + 1e-9) + 1e-12, detail)


def more_than(name: Message, value: float, bound: float) -> Invariant:
    """State that value > bound."""
    detail = say("{value:.3g}, which must exceed {bound:.3g}", value=value, bound=bound)
    return Invariant(name, value > bound, detail)


def not_checked(name: Message, reason: Message) -> Invariant:
    """State that does not apply to this run, and why."""
    return Invariant(name, None, say("not checked: {reason}", reason=reason))


def rows_sum_to_one(weights: Tensor) -> Invariant:
    """State that every row of weights sums to 1."""
    return close(say("every row of weights sums to 1"), weights.sum(-1) - 1, 1e-12)


def entropy_in_range(weights: Tensor) -> Invariant:
    """State that the entropy of every row lies between 0 and ln n."""
    rows = entropy(weights)
    low, high, bound = rows.min().item(), rows.max().item(), math.log(weights.shape[-1])
    return Invariant(
        say("every row's entropy lies between 0 and ln n"),
        low >= -1e-12 and high <= bound + 1e-12,
        say("from {low:.4f} to {high:.4f}; ln n = {bound:.4f}", low=low, high=high, bound=bound),
    )


def counted(letter: str, count: int) -> tuple[str, ...]:
    """Return the labels k₁, k₂, … of `count` rows or columns."""
    digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return tuple(letter + str(i + 1).translate(digits) for i in range(count))


def written(vector: Tensor, spec: str = ".3f") -> str:
    """Return a vector as one cell of a table shows it: "0.462 -0.100"; after eight numbers it is cut."""
    numbers = [format(number, spec) for number in vector[:8].tolist()]
    return " ".join(numbers) + (" …" if len(vector) > 8 else "")
