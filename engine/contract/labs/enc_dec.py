"""Declares the lab `enc-dec`: the full encoder–decoder with every shape, in one pass and token by token."""

from __future__ import annotations

from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Integer
from engine.contract.message import say
from engine.contract.parameters import Params


class EncDecParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `enc-dec`; `cache` chooses how the token-by-token pass is made, both ways are counted."""

    src: Annotated[int, Integer(say("source tokens S"), 2, 12)] = 6
    tgt: Annotated[int, Integer(say("target tokens T"), 1, 10)] = 5
    d: Annotated[int, Choice(say("width d"), (16, 32, 64))] = 16
    heads: Annotated[int, Choice(say("number of heads"), (1, 2, 4, 8, 16))] = 2
    layers: Annotated[int, Integer(say("layers"), 1, 3)] = 1
    cache: Annotated[bool, Boolean(say("key–value cache"))] = False


LAB = Lab(
    name="enc-dec",
    title=say("The full encoder–decoder"),
    notice=say("Training is parallel over positions, generation is not."),
    parameters=EncDecParams,
    estimate=lambda params: Cost(seconds=0.1 + 0.02 * params.layers * params.tgt / 10),
    lessons=("decoder",),
)
