"""The same weights inside torch.nn.TransformerEncoder, with a vocabulary head and a causal mask.

    logits = states Eᵀ          E the token table, (V, width): a language model's head

Our masks say True = may attend, those of nn.TransformerEncoder True = blocked: they get the negated one. The leak test
replaces the last token: under a causal mask no earlier logit may move. All in float64.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.message import say
from engine.contract.report import Cell, Column, Note, Scalar, Table
from engine.labs.base import close, equal, largest, more_than
from engine.labs.encoder.look import Look
from engine.labs.encoder.model import Reader
from engine.labs.encoder.view import View
from engine.layers.attention import causal_mask
from engine.layers.encoder import EncoderBlock

TOLERANCE = 1e-10


@dataclass(frozen=True)
class Pair:
    """Our encoder and torch's with the same weights, the embedded text and the same with another last token (n, d)."""

    reader: Reader
    twin: nn.TransformerEncoder
    inputs: Tensor
    changed: Tensor

    def ours(self, inputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return our logits (n, V); the mask is True where a token may attend."""
        states, _ = self.reader.encoder(inputs, mask)
        logits: Tensor = states @ self.reader.table.weight.T  # (n, V)
        return logits

    def theirs(self, inputs: Tensor, blocked: Tensor | None) -> Tensor:
        """Return torch's logits (n, V); the mask is True where a token may not attend."""
        states: Tensor = self.twin(inputs[None], mask=blocked)[0]
        return states @ self.reader.table.weight.T  # (n, V)


@dataclass(frozen=True)
class Compared:
    """Logits of both (n, V), and how far the earlier ones move with the last token."""

    ours: Tensor
    theirs: Tensor
    our_leak: float
    their_leak: float


def view(look: Look) -> View:
    """Compare with and without the causal mask, on torch's fast path and off it, and with the mask the wrong way."""
    pair = _pair(look)
    causal = causal_mask(len(look.words))
    with torch.no_grad():  # without gradients torch takes its fused fast path
        masked, free = _compare(pair, causal), _compare(pair, None)
        wrong = _leak(pair.theirs(pair.inputs, causal), pair.theirs(pair.changed, causal))
    look.context.check()
    slow = pair.theirs(pair.inputs, ~causal).detach()
    failure = "nan" if wrong != wrong else "leaks"
    rows: tuple[tuple[Cell, ...], ...] = (
        (say("causal"), masked.our_leak, masked.their_leak, largest(masked.ours - masked.theirs)),
        (say("causal, torch's slow path"), masked.our_leak, None, largest(masked.ours - slow)),
        (say("no mask"), free.our_leak, free.their_leak, largest(free.ours - free.theirs)),
        (say("our mask given to torch as it is"), None, wrong, None),
    )
    columns = (
        Column(say("mask")),
        Column(say("our leak"), ".3g"),
        Column(say("torch's leak"), ".3g"),
        Column(say("largest difference of the logits"), ".1e"),
    )
    values: dict[str, Scalar] = {
        "logits_difference": largest(masked.ours - masked.theirs),
        "leak": masked.our_leak,
        "leak_torch": masked.their_leak,
        "leak_no_mask": free.our_leak,
        "leak_no_mask_torch": free.their_leak,
        "leak_wrong_polarity": wrong,
        "wrong_polarity": failure,
    }
    title = say("Leak: how far earlier logits move when the last token changes")
    same = say("causal: the same logits as nn.TransformerEncoder")
    invariants = (
        equal(same, masked.theirs, masked.ours, TOLERANCE),
        equal(say("off its fast path too"), slow, masked.ours, TOLERANCE),
        equal(say("without a mask: the same logits"), free.theirs, free.ours, TOLERANCE),
        close(say("causal: nothing leaks, here and there"), max(masked.our_leak, masked.their_leak), 1e-12),
        more_than(say("without a mask it leaks, here and there"), min(free.our_leak, free.their_leak), 1e-6),
        close(say("both leak equally without a mask"), free.our_leak / free.their_leak - 1, 1e-6),
    )
    return View((_note(failure), Table("parity", title, columns, rows)), values, invariants)


def _note(failure: str) -> Note:
    if failure == "nan":
        text = say("The mask given the wrong way blocks all that the last token may see: torch answers NaN.")
    else:
        text = say("The mask given the wrong way shows the future and hides the past: it leaks.")
    return Note("polarity", text)


@torch.no_grad()
def _pair(look: Look) -> Pair:
    reader = deepcopy(look.reader).double()
    inputs = reader.embed(look.tokens)  # (n, width)
    changed = inputs.clone()
    changed[-1] = look.context.normal("another last token", inputs.shape[-1])
    return Pair(reader, torch_twin(reader), inputs, changed)


def _compare(pair: Pair, mask: Tensor | None) -> Compared:
    ours, theirs = (
        [read(inputs, given) for inputs in (pair.inputs, pair.changed)]
        for read, given in ((pair.ours, mask), (pair.theirs, None if mask is None else ~mask))
    )
    return Compared(ours[0], theirs[0], _leak(*ours), _leak(*theirs))


def _leak(logits: Tensor, changed: Tensor) -> float:
    """Return the largest change before the last position; NaN when there is one."""
    return largest((logits - changed)[:-1])


def torch_twin(reader: Reader) -> nn.TransformerEncoder:
    """Return torch's encoder, in eval mode, holding the weights of ours."""
    shape = reader.shape
    layer = nn.TransformerEncoderLayer(
        shape.width,
        shape.heads,
        shape.expansion * shape.width,
        dropout=0.0,
        batch_first=True,
        norm_first=shape.norm == "pre",
        device="meta",
    )
    final_norm = nn.LayerNorm(shape.width, device="meta") if shape.norm == "pre" else None
    twin = nn.TransformerEncoder(layer, shape.layers, norm=final_norm, enable_nested_tensor=False)
    weights: dict[str, Tensor] = {}
    for number, block in enumerate(reader.blocks):
        weights |= {f"layers.{number}.{name}": tensor for name, tensor in _torch_names(block).items()}
    if reader.encoder.final_norm is not None:
        own = reader.encoder.final_norm.state_dict()
        weights |= {"norm.weight": own["gain"], "norm.bias": own["bias"]}
    twin.load_state_dict(weights, assign=True)
    return twin.eval()


def _torch_names(block: EncoderBlock) -> dict[str, Tensor]:
    """Return the weights of one block by the names torch gives them; Q, K and V are stacked there."""
    own = block.state_dict()
    stacked = {
        f"self_attn.in_proj_{kind}": torch.cat([own[f"attention.{part}_{kind}"] for part in ("query", "key", "value")])
        for kind in ("weight", "bias")
    }
    theirs = {
        "self_attn.out_proj.weight": "attention.output_weight",
        "self_attn.out_proj.bias": "attention.output_bias",
        "linear1.weight": "feed_forward.expand.weight",
        "linear1.bias": "feed_forward.expand.bias",
        "linear2.weight": "feed_forward.contract.weight",
        "linear2.bias": "feed_forward.contract.bias",
        "norm1.weight": "attention_norm.gain",
        "norm1.bias": "attention_norm.bias",
        "norm2.weight": "feed_forward_norm.gain",
        "norm2.bias": "feed_forward_norm.bias",
    }
    return stacked | {name: own[ours] for name, ours in theirs.items()}
