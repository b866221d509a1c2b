"""Cross-entropy with label smoothing (Szegedy et al., 2016; Vaswani et al., 2017, section 5.4).

    q_k  = (1 − ε) [k = target] + ε/K                the smoothed target over K classes
    loss = −Σ_k q_k ln p_k                            p = softmax of the logits

ε = 0 gives −ln p_target. Positions whose target is `ignored` (padding; words a masked model was not asked for) have no
loss, and the mean is over the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

IGNORED = -100


@dataclass(frozen=True)
class CrossEntropyTrace:
    """`log_probabilities` ln p (…, K), the `losses` of the positions (…), 0 where ignored, and `counted`, those that
    have a loss (…)."""

    log_probabilities: Tensor
    losses: Tensor
    counted: Tensor


def cross_entropy(
    logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, ignored: int = IGNORED
) -> tuple[Tensor, CrossEntropyTrace]:
    """Return the mean loss (a scalar, in nats) of logits (…, K) against class numbers (…), and the trace.

    Raises ValueError when the shapes do not fit, a target is no class, or every target is ignored.
    """
    classes = logits.shape[-1]
    counted = targets != ignored
    _check_targets(logits, targets, counted, smoothing)
    log_probabilities = torch.log_softmax(logits, dim=-1)  # (…, K)
    asked = targets.where(counted, 0).unsqueeze(-1)  # (…, 1)
    losses = -(1 - smoothing) * log_probabilities.gather(-1, asked).squeeze(-1)  # (…)
    if smoothing:
        losses = losses - smoothing / classes * log_probabilities.sum(-1)
    losses = losses.where(counted, 0.0)
    return losses.sum() / counted.sum(), CrossEntropyTrace(log_probabilities, losses, counted)


def _check_targets(logits: Tensor, targets: Tensor, counted: Tensor, smoothing: float) -> None:
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"logits {tuple(logits.shape)} want targets {tuple(logits.shape[:-1])}, not {tuple(targets.shape)}"
        )
    if not 0 <= smoothing < 1:
        raise ValueError(f"label smoothing is {smoothing}; it must be at least 0 and less than 1")
    if not counted.any():
        raise ValueError(f"none of the {targets.numel()} positions has a target: there is no loss to average")
    wrong = counted & ((targets < 0) | (targets >= logits.shape[-1]))
    if wrong.any():
        raise ValueError(f"target {targets[wrong][0].item()} is none of the {logits.shape[-1]} classes")
