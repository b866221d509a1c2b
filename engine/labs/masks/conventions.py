"""Three conventions for the same mask, each run beside ours; and what the opposite mask does.

this course, scaled_dot_product_attention        boolean, True = may attend
nn.MultiheadAttention, nn.TransformerEncoder     boolean, True = blocked
any of torch's                                   float, added to the scores: 0 or −∞
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.contract.message import Message, say
from engine.contract.report import Column, Invariant, Scalar, Table
from engine.labs.base import close, largest, not_checked
from engine.labs.encoder.parity import torch_twin
from engine.labs.masks.leak import SHAPE, Net
from engine.layers.multi_head import MultiHeadAttention, merge_heads

Attend = Callable[[Tensor, Tensor], Tensor]  # vectors (n, width) and a mask (n, n), True = may attend → (n, width)
MAY_ATTEND, BLOCKED, ADDED = say("True = may attend"), say("True = blocked"), say("0 or −∞, added")


@dataclass(frozen=True)
class Convention:
    """A way to attend: its name, what its mask means, how it is called, and what of ours it should equal."""

    id: str
    name: Message
    meaning: Message
    attend: Attend
    ours: Attend


@dataclass(frozen=True)
class Checked:
    """The largest difference to ours in rows with an open key, or None where there is none to compare; what the
    opposite mask does; how blocked rows end."""

    difference: float | None
    opposite: Message
    opposite_kind: str
    blocked: Message | None


def conventions(net: Net) -> tuple[Convention, ...]:
    """Return all of them, with the weights of the net's first attention, or of the whole net."""
    layer = net.reader.blocks[0].attention
    attention = _torch_attention(layer)
    encoder = torch_twin(net.reader)

    def ours(inputs: Tensor, allowed: Tensor) -> Tensor:
        output: Tensor = layer(inputs, allowed)[0]
        return output

    def fused(inputs: Tensor, mask: Tensor) -> Tensor:
        _, trace = layer(inputs)
        heads = F.scaled_dot_product_attention(trace.query[None], trace.key[None], trace.value[None], attn_mask=mask)
        return F.linear(merge_heads(heads[0]), layer.output_weight, layer.output_bias)

    def added(inputs: Tensor, allowed: Tensor) -> Tensor:
        return fused(inputs, torch.zeros(allowed.shape, dtype=inputs.dtype).masked_fill(~allowed, -math.inf))

    def module(inputs: Tensor, allowed: Tensor) -> Tensor:
        output: Tensor = attention(*(inputs[None],) * 3, attn_mask=~allowed)[0][0]
        return output

    def stack(inputs: Tensor, allowed: Tensor) -> Tensor:
        output: Tensor = encoder(inputs[None], mask=~allowed)[0]
        return output

    return (
        Convention("ours", say("this course"), MAY_ATTEND, ours, ours),
        Convention("sdpa", say("scaled_dot_product_attention"), MAY_ATTEND, fused, ours),
        Convention("module", say("nn.MultiheadAttention"), BLOCKED, module, ours),
        Convention("encoder", say("nn.TransformerEncoder"), BLOCKED, stack, net.states),
        Convention("float", say("float mask"), ADDED, added, ours),
    )


def check(convention: Convention, net: Net, allowed: Tensor) -> Checked:
    """Run one convention with the right mask and with its opposite."""
    theirs, ours = convention.attend(net.inputs, allowed), convention.ours(net.inputs, allowed)
    has_open = allowed.any(-1)  # (n,)
    # In a stack the NaN of one blocked row reaches every row of the next layer.
    comparable = convention.id != "encoder" or bool(has_open.all())
    opposite, changed = (convention.attend(inputs, ~allowed) for inputs in (net.inputs, net.changed))
    kind, message = _judge(opposite, changed)
    difference = largest((theirs - ours)[has_open]) if comparable else None
    return Checked(difference, message, kind, _blocked(theirs[~has_open]))


def _judge(states: Tensor, changed: Tensor) -> tuple[str, Message]:
    wrong = int(states.isnan().any(-1).sum())
    if wrong:
        return "nan", say("NaN in {wrong} of {all} rows", wrong=wrong, all=len(states))
    leak = largest((states - changed)[:-1])
    return ("leaks", say("leaks: {leak:.2g}", leak=leak)) if leak > 0 else ("blind", say("sees too little"))


def _blocked(rows: Tensor) -> Message | None:
    if not len(rows):
        return None
    return say("NaN") if rows.isnan().any() else say("finite")


def table(checked: dict[str, Checked], all: tuple[Convention, ...]) -> Table:
    """Return one row per convention."""
    columns = (
        Column(say("who")),
        Column(say("its mask")),
        Column(say("difference to ours"), ".1e"),
        Column(say("given the opposite mask")),
        Column(say("fully blocked rows")),
    )
    rows = tuple(
        (
            convention.name,
            convention.meaning,
            checked[convention.id].difference,
            checked[convention.id].opposite,
            checked[convention.id].blocked,
        )
        for convention in all
    )
    return Table("conventions", say("Three conventions, run live"), columns, rows)


def values(checked: dict[str, Checked]) -> dict[str, Scalar]:
    """Return what the opposite mask does in each convention: "nan", "leaks" or "blind"."""
    return {f"opposite_{id}": result.opposite_kind for id, result in checked.items()}


def invariants(checked: dict[str, Checked]) -> Iterator[Invariant]:
    """Check that torch's outputs are ours where a row has an open key."""
    names = {
        "sdpa": say("scaled_dot_product_attention takes our mask as it is"),
        "module": say("nn.MultiheadAttention takes our mask negated"),
        "encoder": say("nn.TransformerEncoder takes our mask negated"),
        "float": say("a float mask of 0 and −∞ is our mask"),
    }
    for id, name in names.items():
        difference = checked[id].difference
        if difference is None:
            yield not_checked(name, say("a row without any open key makes all of it NaN"))
        else:
            yield close(name, difference, 1e-12)


@torch.no_grad()
def _torch_attention(layer: MultiHeadAttention) -> nn.MultiheadAttention:
    module = nn.MultiheadAttention(SHAPE.width, SHAPE.heads, batch_first=True, dtype=torch.float64)
    own = layer.state_dict()
    for kind in ("weight", "bias"):
        stacked = torch.cat([own[f"{part}_{kind}"] for part in ("query", "key", "value")])
        getattr(module, f"in_proj_{kind}").copy_(stacked)
        getattr(module.out_proj, kind).copy_(own[f"output_{kind}"])
    return module.eval()
