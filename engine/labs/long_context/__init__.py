"""Computes the lab `long-context`: windows, memory, hashing, online softmax, reversible layers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from engine.contract.labs.long_context import LongContextParams
from engine.contract.message import say
from engine.contract.report import Column, Event, Scalar, Table
from engine.labs.base import Context
from engine.labs.long_context.exact import reversible_report, streaming_report
from engine.labs.long_context.hashing import hashing_report
from engine.labs.long_context.reach import reach_report

REPORTS = {
    "window": reach_report,
    "transformer-xl": reach_report,
    "lsh": hashing_report,
    "streaming": streaming_report,
    "reversible": reversible_report,
}
LONG, LONG_WINDOW, LONG_BUCKETS = 4096, 128, 64


def run(params: LongContextParams, context: Context) -> Iterator[Event]:
    """Yield the report of the chosen method, and how many pairs of a long text each kind of attention compares."""
    report = REPORTS[params.method](params, context)
    pairs: dict[str, Scalar] = {
        "pairs_full": LONG**2,
        "pairs_window": LONG * LONG_WINDOW,
        "pairs_buckets": LONG**2 // LONG_BUCKETS,
    }
    rows = (
        (say("full attention, also in blocks"), LONG**2),
        (say("window of {window}", window=LONG_WINDOW), LONG * LONG_WINDOW),
        (say("{buckets} equal buckets, one round", buckets=LONG_BUCKETS), LONG**2 // LONG_BUCKETS),
    )
    columns = (Column(say("attention")), Column(say("pairs"), ",d"))
    table = Table("pairs", say("Pairs compared in {n} tokens, at most", n=LONG), columns, rows)
    yield replace(report, panels=(*report.panels, table), values={**report.values, **pairs})
