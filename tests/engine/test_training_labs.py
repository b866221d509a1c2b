"""The labs that train: equal reports in every process, live curves, time left, and an end as soon as they are told."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import time
from typing import Any

import msgspec
import pytest

from engine.contract import labs as declared
from engine.contract.parameters import build
from engine.contract.report import Curves, Event, Partial, Progress, Report
from engine.labs import run_events
from engine.labs.base import Cancelled
from engine.training import loop

SHORT: dict[str, dict[str, Any]] = {
    "clip": {"steps": 50, "D": 5},
    "recall-race": {"steps": 50, "D": 5, "models": "rnn,gru,lstm"},
    "seq2seq": {"steps": 100, "hidden": 16},
    "pe-race": {"steps": 100, "train_len": 8, "schemes": "none,rotary"},
}

SCRIPT = """
import json
from tests.engine.test_training_labs import SHORT, digest
print(json.dumps({name: digest(name) for name in SHORT}))
"""


def events(name: str, seed: int = 3, **given: Any) -> list[Event]:
    params = build(declared.declaration(name).parameters, {**SHORT[name], **given}, "zh")
    return list(run_events(name, params, seed=seed, language="zh"))


def digest(name: str) -> str:
    """Return a hash of the whole report but for the time it took."""
    report = events(name)[-1]
    assert isinstance(report, Report)
    panels = tuple(panel for panel in report.panels if panel.id != "seconds")
    same = msgspec.structs.replace(report, panels=panels, seconds=0.0)
    return hashlib.sha256(msgspec.msgpack.encode(same)).hexdigest()


def test_training_gives_the_same_report_bit_by_bit_in_every_process() -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    first, second = (json.loads(process.communicate()[0]) for process in processes)
    assert first == second
    assert len(set(first.values())) == len(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_the_curve_grows_on_the_way_and_the_time_left_falls_to_0(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "TELL_EVERY", 0.0)
    told = events(name)
    progress = [event for event in told if isinstance(event, Progress)]
    fractions = [event.fraction for event in progress]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert progress[-1].seconds_left == 0
    assert all(event.seconds_left is not None for event in progress)
    partial = [event for event in told if isinstance(event, Partial)]
    assert len(partial) == len(progress)
    known = []
    for event in (partial[0], partial[9]):
        curves = next(panel for panel in event.panels if isinstance(panel, Curves))
        known.append(sum(math.isfinite(value) for value in curves.series[0].y.flat()))
    assert known == [1, 10]


@pytest.mark.parametrize("name", SHORT)
def test_a_cancelled_training_ends_with_its_step(name: str) -> None:
    stopped = False
    params = build(declared.declaration(name).parameters, {}, "en")
    told = run_events(name, params, should_stop=lambda: stopped)
    assert isinstance(next(told), Progress)
    stopped = True
    start = time.perf_counter()
    with pytest.raises(Cancelled):
        next(told)
    assert time.perf_counter() - start < 0.3  # what the engine gives a training worker before it kills it


@pytest.mark.parametrize("name", [name for name in declared.names() if declared.declaration(name).trains])
def test_an_estimate_says_seconds_before_anything_runs(name: str) -> None:
    lab = declared.declaration(name)
    cost = lab.estimate(build(lab.parameters, {}, "en"))
    assert 1 < cost.seconds <= 45
