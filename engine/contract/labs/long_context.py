"""Declares the lab `long-context`: five ways to longer texts, and what each of them gives up."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer
from engine.contract.message import say
from engine.contract.parameters import Params

USES = {
    "window": ("layers", "window"),
    "transformer-xl": ("layers", "memory", "segment"),
    "lsh": ("buckets", "rounds"),
    "streaming": ("block",),
    "reversible": ("layers",),
}
"""The parameters that matter for each method."""


class LongContextParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `long-context`; the sequence is 64 tokens long, for hashing there are 256 vectors."""

    method: Annotated[
        str,
        Choice(
            say("method"),
            tuple(USES),
            (
                say("local window"),
                say("memory of segments (Transformer-XL)"),
                say("hash buckets (LSH)"),
                say("online (streaming) softmax"),
                say("reversible layers"),
            ),
        ),
    ] = "window"
    layers: Annotated[int, Integer(say("number of layers"), 1, 4)] = 2
    window: Annotated[int, Integer(say("window w"), 2, 8)] = 4
    memory: Annotated[int, Integer(say("memory m"), 1, 8)] = 4
    segment: Annotated[int, Integer(say("segment s"), 1, 8)] = 4
    buckets: Annotated[int, Integer(say("buckets"), 4, 32, step=2)] = 16
    rounds: Annotated[int, Integer(say("rounds of hashing"), 1, 8)] = 4
    block: Annotated[int, Integer(say("block of keys"), 1, 64)] = 16

    def relevant(self, field: str) -> bool:
        """Each method has its own parameters."""
        return field == "method" or field in USES[self.method]


def estimate(params: LongContextParams) -> Cost:
    """The reach is read off 64 gradients; a segment is a pass of its own."""
    if params.method == "transformer-xl":
        return Cost(seconds=0.1 + 0.02 * params.layers * 64 / params.segment)
    return Cost(seconds=0.3)


LAB = Lab(
    name="long-context",
    title=say("Five ways to long context"),
    notice=say(
        "Each method gives up exactness, reach or recomputation. Of the changes to attention only the online softmax "
        "is exact; reversible layers are exact too, but save the activations between layers, not the n² scores."
    ),
    parameters=LongContextParams,
    estimate=estimate,
    lessons=("long-context",),
)
