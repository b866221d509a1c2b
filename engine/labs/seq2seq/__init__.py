"""Computes the lab `seq2seq`: an encoder–decoder on one of two tasks."""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.seq2seq import Seq2seqParams
from engine.contract.report import Event
from engine.labs.base import Context
from engine.labs.seq2seq import reverse, translate


def run(params: Seq2seqParams, context: Context) -> Iterator[Event]:
    """Yield the growing loss curve and the report of the chosen task."""
    yield from (translate if params.task == "translate" else reverse).run(params, context)
