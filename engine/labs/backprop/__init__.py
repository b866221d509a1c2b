"""Computes the lab `backprop`: one step of a small net by hand, or XOR by many steps."""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.backprop import BackpropParams
from engine.contract.report import Event
from engine.labs.backprop import trace, xor
from engine.labs.base import Context


def run(params: BackpropParams, context: Context) -> Iterator[Event]:
    """Yield the report of the chosen mode."""
    yield from (trace if params.mode == "trace" else xor).run(params, context)
