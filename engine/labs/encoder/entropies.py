"""How sharp every head of every layer looks: the mean entropy of its rows, and the word it looks at most."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.contract.message import say
from engine.contract.report import Column, Scalar, Table
from engine.labs.base import entropy
from engine.labs.encoder.look import Look
from engine.labs.encoder.view import View, layer_by_head
from engine.layers.encoder import EncoderTrace


def view(look: Look) -> View:
    """Show the entropies as a picture and as a table."""
    _, trace = look.read()
    table = statistics(look, trace)
    title = say("Mean entropy of the rows (at most ln {n})", n=len(look.words))
    picture = layer_by_head("entropies", title, mean_entropies(trace), math.log(len(look.words)))
    return View((picture, *table.panels), table.values)


def mean_entropies(trace: EncoderTrace) -> Tensor:
    """Return the mean entropy of the rows of every head, (layers, heads), in nats."""
    return torch.stack([entropy(block.attention.weights).mean(-1) for block in trace.blocks])


def statistics(look: Look, trace: EncoderTrace) -> View:
    """Return the table of all heads and the values every view of maps has."""
    entropies = mean_entropies(trace).double()
    rows = []
    for layer, block in enumerate(trace.blocks):
        for head, weights in enumerate(block.attention.weights):
            received = weights.mean(0)  # (n,)
            rows.append(
                (
                    layer + 1,
                    head + 1,
                    entropies[layer, head].item(),
                    weights.max().item(),
                    look.labels[int(received.argmax())],
                    received.max().item(),
                )
            )
    columns = (
        Column(say("layer"), "d"),
        Column(say("head"), "d"),
        Column(say("entropy"), ".4f"),
        Column(say("largest weight"), ".4f"),
        Column(say("looks most at")),
        Column(say("mean weight"), ".4f"),
    )
    values: dict[str, Scalar] = {
        "n_tokens": len(look.words),
        "uniform_entropy": math.log(len(look.words)),
        "entropy_mean": entropies.mean().item(),
        "entropy_min": entropies.min().item(),
        "entropy_max": entropies.max().item(),
    }
    for layer, row in enumerate(entropies.tolist(), start=1):
        values |= {f"entropies_layer_{layer}": row, f"entropy_layer_{layer}": sum(row) / len(row)}
    return View((Table("heads", say("The heads (entropy: mean over the queries)"), columns, tuple(rows)),), values)
