"""The engine process as a front end meets it: results, refusals, cancelling, crashes. Every test ends with a run that
works."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from engine.contract.protocol import (
    PROTOCOL,
    Cancel,
    Devices,
    Failed,
    Finished,
    Hello,
    Log,
    Pause,
    Ready,
    Resume,
    Run,
    Started,
)
from engine.contract.report import Progress
from tests.engine.fake_labs import names
from tests.engine.talk import Talk, marked


@pytest.fixture(scope="module")
def shared() -> Iterator[Talk]:
    talk = Talk()
    talk.wait_for(Ready)
    yield talk
    talk.end()


@pytest.fixture
def engine(shared: Talk) -> Iterator[Talk]:
    yield shared
    assert shared.result("result", text="after").report.values["text"] == "after"


def test_it_says_hello_with_its_labs_before_torch_is_loaded(shared: Talk) -> None:
    kinds = [type(reply) for reply in shared.heard]
    hello = shared.heard[0]
    assert isinstance(hello, Hello)
    assert (hello.protocol, hello.labs) == (PROTOCOL, names())
    assert hello.versions["torch"].startswith("2.")
    assert kinds.index(Hello) < kinds.index(Ready)


def test_the_devices_begin_with_the_cpu(shared: Talk) -> None:
    shared.result("anywhere")  # waits until the devices are known
    (devices,) = [reply for reply in shared.heard if isinstance(reply, Devices)]
    assert devices.devices[0].id == "cpu"
    assert devices.devices[0].total > devices.devices[0].free > 0


def test_a_run_is_started_makes_progress_and_finishes(engine: Talk) -> None:
    run = engine.run("polite", size=3)
    replies = [engine.reply() for _ in range(5)]
    assert replies[0] == Started(run, "cpu")
    assert [(reply.id, reply.fraction) for reply in replies if isinstance(reply, Progress)] == [
        (run, 0.0),
        (run, 1 / 3),
        (run, 2 / 3),
    ]


def test_one_worker_does_one_run_after_another(engine: Talk) -> None:
    processes = {engine.result("result").report.values["process"] for _ in range(5)}
    assert len(processes) == 1


def test_an_estimate_says_no_before_memory_does(engine: Talk) -> None:
    failure = engine.failure("vast")
    assert failure.code == "out-of-memory"
    assert str(failure.message).startswith("This needs about 1048576.0 GiB of memory, but ")


def test_a_result_of_32_mb_arrives_whole(engine: Talk) -> None:
    (numbers,) = engine.result("result", size=4_000_000).report.panels
    assert len(numbers.values.data) == 32_000_000  # type: ignore[union-attr]


def test_a_result_larger_than_a_frame_is_refused_in_words(engine: Talk) -> None:
    failure = engine.failure("result", size=9_000_000)
    assert (failure.code, str(failure.message)) == (
        "error",
        "The result of the lab result is too large to be shown; choose smaller parameters.",
    )


def test_the_default_text_is_the_learners_language(engine: Talk) -> None:
    for number, (language, text) in enumerate((("zh", "你好"), ("en", "hello"))):
        engine.send(Run(1000 + number, "result", {}, language=language))  # type: ignore[arg-type]
        assert engine.outcome(1000 + number).report.values["text"] == text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("asked", "code", "field", "sentence"),
    [
        (Run(2000, "nowhere", {}), "unknown-lab", "", "There is no lab “nowhere”"),
        (Run(2000, "result", {"size": -1}), "invalid", "size", "size is -1, but it must lie between 0 and"),
        (Run(2000, "result", {"seize": 1}), "invalid", "seize", "did you mean “size”?"),
        (Run(2000, "result", {}, seed=-5), "invalid", "seed", "seed is -5"),
        (Run(2000, "result", {}, device="gpu"), "no-device", "device", "There is no device “gpu”; choose auto"),
        (Run(2000, "result", {}, device="cuda:77"), "no-device", "device", "There is no device cuda:77"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(
    engine: Talk, asked: Run, code: str, field: str, sentence: str
) -> None:
    engine.send(asked)
    failure = engine.outcome(2000)
    assert isinstance(failure, Failed)
    assert (failure.code, failure.field) == (code, field)
    assert sentence in str(failure.message)


@pytest.mark.parametrize("lab", ["polite", "training", "deaf", "deaf-native"])
def test_cancelling_a_run_frees_the_engine(engine: Talk, lab: str) -> None:
    run = engine.run(lab, size=100_000)
    engine.wait_for(Progress)
    engine.send(Cancel(run))
    failure = engine.outcome(run)
    assert isinstance(failure, Failed)
    assert (failure.code, str(failure.message)) == ("cancelled", "The run was cancelled.")


def test_a_lab_that_stops_by_itself_keeps_its_process(engine: Talk) -> None:
    before = engine.result("result").report.values["process"]
    run = engine.run("polite", size=100_000)
    engine.wait_for(Progress)
    engine.send(Cancel(run))
    engine.outcome(run)
    assert engine.result("result").report.values["process"] == before


def test_a_new_run_cancels_the_one_before_and_replaces_the_one_that_waits(engine: Talk) -> None:
    first = engine.run("deaf")
    engine.wait_for(Progress)
    second, third = engine.run("deaf"), engine.run("result", text="third")
    outcomes: dict[int, str] = {}
    while third not in outcomes:
        reply = engine.reply()
        if isinstance(reply, (Finished, Failed)):
            outcomes[reply.id] = reply.code if isinstance(reply, Failed) else "finished"
    assert outcomes == {first: "cancelled", second: "cancelled", third: "finished"}


def test_cancelling_what_is_over_or_never_was_changes_nothing(engine: Talk) -> None:
    done = engine.result("result").id
    engine.send(Cancel(done))
    engine.send(Cancel(987_654))
    run = engine.run("polite", size=3)
    assert engine.outcome(run).report.values["counted"] == 3  # type: ignore[union-attr]


def test_a_paused_run_waits_and_goes_on(engine: Talk) -> None:
    run = engine.run("training", size=40)
    engine.wait_for(Progress)
    engine.send(Pause(run))
    assert engine.is_silent(0.3)
    engine.send(Resume(run))
    assert engine.outcome(run).report.values["counted"] == 40  # type: ignore[union-attr]


def test_a_paused_run_can_be_cancelled(engine: Talk) -> None:
    run = engine.run("training", size=1000)
    engine.wait_for(Progress)
    engine.send(Pause(run))
    engine.send(Cancel(run))
    assert engine.outcome(run).code == "cancelled"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("lab", "reason"),
    [
        ("segfault", "it used memory that is not its own (segmentation fault)"),
        ("killed", "it was killed from outside; it was probably out of memory"),
        ("leaves", "it ended by itself with exit code 7"),
    ],
)
def test_a_crash_is_told_in_words_and_survived(engine: Talk, lab: str, reason: str) -> None:
    failure = engine.failure(lab)
    assert failure.code == "crashed"
    assert str(failure.message) == (f"The computation ended in the middle: {reason}. The next run starts afresh.")


def test_a_fault_in_a_lab_is_one_sentence_without_a_traceback(engine: Talk) -> None:
    failure = engine.failure("fails")
    assert (failure.code, str(failure.message)) == (
        "error",
        "The lab fails failed with ZeroDivisionError: the middle of (the engine's log has the details).",
    )


def test_a_lab_without_a_report_is_a_fault(engine: Talk) -> None:
    assert "the lab ended without a report" in str(engine.failure("endless").message)


def test_too_little_memory_is_told_in_words(engine: Talk) -> None:
    failure = engine.failure("greedy")
    assert (failure.code, str(failure.message)) == (
        "out-of-memory",
        "The machine has too little free memory for this run.",
    )


def test_prints_of_a_lab_do_not_reach_the_stream_and_stdin_is_not_the_front_ends(engine: Talk) -> None:
    before = len(engine.heard)
    assert engine.result("noisy").report.values == {"read": ""}
    assert not any(isinstance(reply, Log) for reply in engine.heard[before:])


def test_host_and_fork_server_keep_one_thread(shared: Talk) -> None:
    shared.result("anywhere")  # the look for devices is over
    threads = [len(tasks) for _, tasks in sorted(marked(shared.mark).items())]
    assert threads[:2] == [1, 1]


@pytest.mark.parametrize("seed", range(3))
def test_every_run_gets_one_last_reply_whatever_comes_between(engine: Talk, seed: int) -> None:
    choose = random.Random(seed)
    labs = ("result", "polite", "training", "deaf", "segfault", "fails", "nowhere")
    runs: list[int] = []
    for _ in range(40):
        runs.append(engine.run(choose.choice(labs), size=choose.choice((1, 50))))
        for _ in range(choose.randrange(4)):
            time.sleep(choose.choice((0.0, 0.002, 0.02)))
            engine.send(choose.choice((Cancel, Cancel, Pause, Resume))(choose.choice(runs[-3:])))
    last = engine.run("result")
    start = len(engine.heard)
    engine.outcome(last)
    finals = [reply.id for reply in engine.heard[start:] if isinstance(reply, (Finished, Failed)) and reply.id in runs]
    assert sorted(finals) == runs
