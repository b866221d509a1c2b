"""The learning rate of the Transformer paper: linear for w steps, then down with the square root (schedules.noam)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.contract.labs.train_tricks import TrainTricksParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Curves, Invariant, Report, Series, Table
from engine.labs.base import Context, array, close
from engine.training.schedules import noam

POINTS = 400
MARKS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # rows of the table, in warm-ups; 0 stands for the first step
LONGEST = 5  # warm-ups drawn


def run(params: TrainTricksParams, context: Context) -> Report:
    """Report the schedule, its peak and what is left at four times the warm-up."""
    rate = noam(params.d, params.warmup)
    peak, later = rate(params.warmup), rate(4 * params.warmup)
    highest = max(range(1, 2 * params.warmup), key=rate)
    values = {
        "first_rate": rate(1),
        "peak": peak,
        "peak_step": highest,
        "rate_at_2": rate(2 * params.warmup),
        "rate_at_4": later,
        "share_at_4": later / peak,
    }
    return Report((_curve(params), _table(params)), {**values}, tuple(_invariants(params, highest)))


def _curve(params: TrainTricksParams) -> Curves:
    rate = noam(params.d, params.warmup)
    last = LONGEST * params.warmup
    steps = sorted({max(1, round(last * number / POINTS)) for number in range(1, POINTS + 1)} | {params.warmup})
    rates = torch.tensor([rate(step) for step in steps], dtype=torch.float64)
    rising = torch.tensor([params.d**-0.5 * step * params.warmup**-1.5 for step in steps], dtype=torch.float64)
    falling = torch.tensor([params.d**-0.5 * step**-0.5 for step in steps], dtype=torch.float64)
    peak = rate(params.warmup)
    nowhere = torch.tensor(float("nan"), dtype=torch.float64)
    series = (
        Series(say("learning rate"), array(rates)),
        Series(say("d^−½ · s · w^−3/2"), array(torch.where(rising <= 1.2 * peak, rising, nowhere))),
        Series(say("d^−½ · s^−½"), array(torch.where(falling <= 1.2 * peak, falling, nowhere))),
    )
    title = say("The smaller of two branches")
    return Curves(
        "schedule", title, array(torch.tensor(steps, dtype=torch.float64)), series, say("step"), say("learning rate")
    )


def _table(params: TrainTricksParams) -> Table:
    rate = noam(params.d, params.warmup)
    rows = []
    for mark in MARKS:
        step = max(1, round(mark * params.warmup))
        rows.append((step, rate(step), rate(step) / rate(params.warmup), _where(step, params.warmup)))
    columns = (
        Column(say("step"), ",d"),
        Column(say("learning rate"), ".3e"),
        Column(say("share of the peak"), ".3f"),
        Column(say("part")),
    )
    return Table("rates", say("Rates along the way"), columns, tuple(rows))


def _where(step: int, warmup: int) -> Message:
    if step == warmup:
        return say("peak")
    return say("warm-up") if step < warmup else say("decay")


def _invariants(params: TrainTricksParams, highest: int) -> Iterator[Invariant]:
    rate = noam(params.d, params.warmup)
    peak = rate(params.warmup)
    yield Invariant(
        say("the peak is at the last step of the warm-up"),
        highest == params.warmup,
        say("step {step:,}", step=highest),
    )
    yield close(say("the peak is (d·w)^−½"), peak / (params.d * params.warmup) ** -0.5 - 1, 1e-12)
    yield close(say("at four times the warm-up the rate is half the peak"), rate(4 * params.warmup) / peak - 0.5, 1e-12)
