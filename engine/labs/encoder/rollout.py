"""Attention rollout (Abnar and Zuidema, Quantifying Attention Flow in Transformers, 2020).

    R ← (½ P̄_ℓ + ½ I) R          from layer 1 up, P̄_ℓ the mean of the heads of layer ℓ, starting from R = I

The ½ I stands for the residual. It follows the weights alone: values, feed-forward and norms do not enter.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.contract.message import say
from engine.contract.report import Bars, Heatmap, Scalar
from engine.labs.base import array, close
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View
from engine.layers.encoder import EncoderTrace


def view(look: Look) -> View:
    """Show R, and what the mean over all positions (which a classifier reads) rests on."""
    _, trace = look.read()
    mixed = rollout(trace)  # (n, n)
    pooled = mixed.mean(0)  # (n,)
    values: dict[str, Scalar] = {
        "rollout_pooled": pooled.tolist(),
        "rollout_most": look.words[int(pooled.argmax())],
        "rollout_most_share": pooled.max().item(),
    }
    panels = (
        Heatmap(
            "rollout",
            say("Rollout through {layers} layers", layers=len(trace.blocks)),
            array(mixed),
            look.labels,
            look.labels,
            say("positions at the top"),
            say("words"),
            0.0,
            1.0,
        ),
        Bars("pooled", say("Rollout of the mean over all positions"), look.labels, array(pooled), say("share")),
    )
    invariants = (close(say("every row of the rollout sums to 1"), mixed.sum(-1) - 1, 1e-6),)
    return View(panels, values, invariants)


def rollout(trace: EncoderTrace) -> Tensor:
    """Return R (n, n); row i says what position i at the top is made of."""
    length = trace.blocks[0].output.shape[-2]
    identity = mixed = torch.eye(length, dtype=torch.float64)
    for block in trace.blocks:
        mixed = (block.attention.weights.double().mean(0) + identity) / 2 @ mixed
    return mixed
