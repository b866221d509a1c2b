"""The queue of runs: one at a time, the visible first, each reply to whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.contract.message import say
from engine.contract.protocol import Failed, Finished, Started
from engine.contract.report import Partial, Progress, Report
from tutor.runs import KEPT, Request, Runs

REPORT = Report(panels=(), values={"x": 1.0})


class Engine:
    """Notes what it is asked; answers only when the test makes it."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.cancelled: list[int] = []

    def run(
        self, lab: str, params: Mapping[str, Any], *, seed: int = 0, device: str = "auto", language: str = "en"
    ) -> int:
        self.started.append(lab)
        return len(self.started)

    def cancel(self, run: int) -> None:
        self.cancelled.append(run)


class Receiver:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def run_started(self, device: str) -> None:
        self.told.append(device)

    def run_progressed(self, progress: Progress) -> None:
        self.told.append(progress.fraction)

    def run_partial(self, partial: Partial) -> None:
        self.told.append("partial")

    def run_finished(self, report: Report) -> None:
        self.told.append(report)

    def run_failed(self, failure: Failed) -> None:
        self.told.append(failure.code)


def request(lab: str) -> Request:
    return Request(lab, {"n": 1})


def test_replies_reach_the_receiver_of_their_run() -> None:
    engine, receiver = Engine(), Receiver()
    runs = Runs(engine)
    runs.ask(request("a"), receiver)
    for reply in (Started(1, "cpu"), Progress(0.5, say("half"), id=1), Finished(1, REPORT)):
        runs.deliver(reply)
    assert receiver.told == ["cpu", 0.5, REPORT]


def test_one_run_at_a_time_and_the_visible_one_before_the_quoted_ones() -> None:
    engine = Engine()
    runs = Runs(engine)
    runs.ask(request("first"), Receiver(), urgent=False)
    runs.ask(request("quoted"), Receiver(), urgent=False)
    runs.ask(request("visible"), Receiver())
    assert engine.started == ["first"]
    runs.deliver(Finished(1, REPORT))
    runs.deliver(Finished(2, REPORT))
    runs.deliver(Finished(3, REPORT))
    assert engine.started == ["first", "visible", "quoted"]


def test_asking_again_replaces_the_own_request_and_cancels_the_own_run() -> None:
    engine, receiver = Engine(), Receiver()
    runs = Runs(engine)
    runs.ask(request("old"), receiver)
    runs.ask(request("new"), receiver)
    assert engine.cancelled == [1]
    runs.deliver(Failed(1, "cancelled", say("stopped")))
    runs.deliver(Finished(2, REPORT))
    assert engine.started == ["old", "new"]
    assert receiver.told == [REPORT]


def test_a_cancelled_run_is_told_to_its_receiver() -> None:
    engine, receiver = Engine(), Receiver()
    runs = Runs(engine)
    runs.ask(request("a"), receiver)
    assert runs.cancel(receiver)
    runs.deliver(Failed(1, "cancelled", say("stopped")))
    assert receiver.told == ["cancelled"]
    assert not runs.cancel(receiver)


def test_an_equal_run_is_answered_from_what_was_kept() -> None:
    engine, receiver = Engine(), Receiver()
    runs = Runs(engine)
    runs.ask(request("a"), receiver)
    runs.deliver(Finished(1, REPORT))
    runs.ask(Request("a", {"n": 1}, language="zh"), receiver)
    assert receiver.told == [REPORT, REPORT]
    assert engine.started == ["a"]


def test_another_seed_or_device_is_another_run() -> None:
    keys = {Request("a", {}).key, Request("a", {}, seed=1).key, Request("a", {}, device="cpu").key}
    assert len(keys) == 3


def test_results_are_kept_in_bounded_number() -> None:
    engine = Engine()
    runs = Runs(engine)
    for number in range(KEPT + 1):
        runs.ask(Request("a", {"n": number}), Receiver())
        runs.deliver(Finished(number + 1, REPORT))
    assert runs.result(Request("a", {"n": 0})) is None
    assert runs.result(Request("a", {"n": KEPT})) is REPORT


def test_replies_of_runs_nobody_waits_for_are_dropped() -> None:
    engine, receiver = Engine(), Receiver()
    runs = Runs(engine)
    runs.ask(request("a"), receiver)
    runs.deliver(Finished(99, REPORT))
    assert receiver.told == []
