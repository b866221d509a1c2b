"""What the trained classifier loses without one head: its slice of W_O is set to 0, nothing is trained again."""

from __future__ import annotations

from copy import deepcopy

import torch

from engine.contract.message import say
from engine.contract.report import Column, Scalar, Table
from engine.labs.base import at_most, more_than
from engine.labs.encoder.judged import accuracies
from engine.labs.encoder.look import Look
from engine.labs.encoder.trained import SHAPE, Trained
from engine.labs.encoder.view import View, layer_by_head
from engine.tasks.sentiment import KINDS

MUCH, LITTLE = 0.10, 0.01


def view(look: Look) -> View:
    """Show the accuracy on the test reviews without each head in turn."""
    assert look.trained is not None
    whole = accuracies(look.trained, look.trained.model)["all"]
    left: list[dict[str, float]] = []  # without one head each, layer by layer
    for layer in range(SHAPE.layers):
        for head in range(SHAPE.heads):
            look.context.check()
            left.append(without(look.trained, layer, head))
    lost = whole - torch.tensor([row["all"] for row in left], dtype=torch.float64).reshape(SHAPE.layers, SHAPE.heads)
    columns = (
        Column(say("layer"), "d"),
        Column(say("head"), "d"),
        Column(say("accuracy without it"), ".1%"),
        *(Column(label, ".1%") for label in (say("plain"), say("negated"), say("contrast"))),
    )
    rows = tuple(
        (i // SHAPE.heads + 1, i % SHAPE.heads + 1, row["all"], *(row[kind] for kind in KINDS))
        for i, row in enumerate(left)
    )
    values: dict[str, Scalar] = {"worst_loss_layer_1": lost[0].max().item(), "worst_loss_layer_2": lost[1].max().item()}
    values |= {f"lost_layer_{layer}": row for layer, row in enumerate(lost.tolist(), start=1)}
    values["worst_head"] = int(lost[0].argmax()) + 1
    panels = (
        layer_by_head("lost", say("Accuracy lost without a head"), lost.clamp(min=0), max(lost.max().item(), 0.5)),
        Table("ablation", say("Without one head"), columns, rows),
    )
    invariants = (
        more_than(say("some head of layer 1 is missed: it costs more than 10 points"), lost[0].max().item(), MUCH),
        at_most(say("no head of layer 2 is missed: each costs at most 1 point"), lost[1].max().item(), LITTLE),
    )
    return View(panels, values, invariants)


@torch.no_grad()
def without(trained: Trained, layer: int, head: int) -> dict[str, float]:
    """Return the accuracies of the classifier without one head."""
    model = deepcopy(trained.model)
    attention = model.reader.blocks[layer].attention
    attention.output_weight[:, head * attention.d_v : (head + 1) * attention.d_v] = 0
    return accuracies(trained, model)
