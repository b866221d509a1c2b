"""Computes the lab `train-tricks`: one trick of training at a time."""

from __future__ import annotations

from collections.abc import Iterator

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.report import Event, Report
from engine.labs.base import Context
from engine.labs.train_tricks import accumulation, dropout, smoothing, warmup

TRICKS = {"warm-up": warmup.run, "smoothing": smoothing.run, "accumulation": accumulation.run, "dropout": dropout.run}


def run(params: TrainTricksParams, context: Context) -> Iterator[Event]:
    """Yield the report of the chosen trick."""
    report: Report = TRICKS[params.trick](params, context)
    yield report
