"""Computes the lab `heads`: maps of untrained heads, what each head reads, the rank of its scores, twin weights."""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.heads import HeadsParams
from engine.contract.report import Event
from engine.labs.base import Context
from engine.labs.heads.rank import rank_report
from engine.labs.heads.sentence import sentence_report
from engine.labs.heads.twin import twin_report


def run(params: HeadsParams, context: Context) -> Iterator[Event]:
    """Yield the report of the chosen panel."""
    if params.panel == "rank":
        yield rank_report(context)
    elif params.panel == "twin":
        yield twin_report(context)
    else:
        yield sentence_report(params, context)
