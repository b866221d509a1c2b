"""How labs are run: repeatable in every process, stoppable, light to import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import msgspec
import pytest
import torch

from engine.contract import labs as declared
from engine.contract.message import say
from engine.contract.parameters import InvalidParameters, build
from engine.contract.report import Progress, Report
from engine.labs import run, run_events
from engine.labs.base import Cancelled, Context, array, at_most, close, entropy, equal, more_than, not_checked

SCRIPT = """
import hashlib, json, sys
import msgspec
from engine.contract import labs
from engine.labs import run
digests = {}
for name in labs.names():
    if labs.declaration(name).trains:
        continue  # repeated bit by bit where training is tested
    report = msgspec.structs.replace(run(name, seed=7, language="zh"), seconds=0.0)
    digests[name] = hashlib.sha256(msgspec.msgpack.encode(report)).hexdigest()
print(json.dumps(digests))
"""


QUICK = tuple(name for name in declared.names() if not declared.declaration(name).trains)
# At their defaults: worked by hand, or a function.
DRAWS_NOTHING = {"sdpa", "activations", "backprop", "layernorm", "train-tricks", "cost"}


def digests(hash_seed: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def test_the_same_parameters_give_the_same_report_in_every_process() -> None:
    first = digests("1")
    assert tuple(first) == QUICK
    assert digests("2") == first


@pytest.mark.parametrize("name", QUICK)
def test_a_run_in_between_changes_nothing_and_another_seed_does(name: str) -> None:
    def encoded(seed: int) -> bytes:
        return msgspec.msgpack.encode(msgspec.structs.replace(run(name, seed=seed), seconds=0.0, seed=0))

    first = encoded(3)
    torch.manual_seed(0)
    other = encoded(4)
    assert encoded(3) == first
    assert (other == first) is (name in DRAWS_NOTHING)


def test_importing_the_labs_imports_no_torch() -> None:
    code = (
        "import sys, engine, engine.labs, engine.quiz; from engine.contract import labs;"
        "[labs.declaration(name) for name in labs.names()];"
        "print([name for name in ('torch', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_report_says_where_it_ran_and_how_long() -> None:
    report = run("heads", seed=5, device="cuda")
    assert (report.device, report.seed) == ("cpu", 5)  # analytic labs are exact on the CPU
    assert 0 < report.seconds < 60


def test_a_stopped_run_ends_within_the_next_piece_of_work() -> None:
    params = build(declared.declaration("sqrt-dk").parameters, {"trials": 5000, "keys": 64}, "en")
    stopped = False
    events = run_events("sqrt-dk", params, should_stop=lambda: stopped)
    assert isinstance(next(events), Progress)
    stopped = True
    start = time.perf_counter()
    with pytest.raises(Cancelled):
        next(events)
    assert time.perf_counter() - start < 0.5  # the whole run takes many seconds


def test_should_stop_is_asked_between_pieces_of_about_ten_milliseconds() -> None:
    params = build(declared.declaration("sqrt-dk").parameters, {"trials": 1000, "keys": 16}, "en")
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    *_, report = run_events("sqrt-dk", params, should_stop=count)
    assert isinstance(report, Report)
    assert asked >= 1000 * 16 * 1024 // 500_000  # one look per half a million numbers


@pytest.mark.parametrize("seed", [-1, 10_000, "x", 1.5])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(InvalidParameters) as caught:
        run("shuffle", seed=seed)
    assert caught.value.problems[0].field == "seed"


def test_streams_of_different_purposes_and_seeds_differ() -> None:
    draws = [Context(seed=seed).normal(purpose, 4).tolist() for seed in (0, 1) for purpose in ("data", "weights")]
    assert len({tuple(draw) for draw in draws}) == 4
    assert Context(seed=1).normal("data", 4).tolist() == draws[2]


def test_arrays_carry_shape_type_and_numbers() -> None:
    tensor = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    assert array(tensor.T).rows() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert array(tensor.float()).dtype == "float32"
    assert list(array(torch.tensor([True, False])).flat()) == [True, False]


def test_entropy_of_a_one_hot_row_is_0_and_of_a_uniform_one_ln_n() -> None:
    rows = torch.tensor([[0.0, 1.0, 0.0], [1 / 3] * 3], dtype=torch.float64)
    assert entropy(rows).tolist() == pytest.approx([0.0, 1.0986122886681098], abs=1e-15)


def test_checked_statements_hold_up_to_their_tolerance_and_no_further() -> None:
    name = say("every row of weights sums to 1")
    assert close(name, 1e-12, 1e-12).holds is True
    assert close(name, torch.tensor([0.0, -2e-12]), 1e-12).holds is False
    assert close(name, float("nan"), 1e-12).holds is False
    big = torch.full((4,), 1e6, dtype=torch.float64)
    assert equal(name, big * (1 + 1e-10), big, 1e-9).holds is True
    assert equal(name, big * (1 + 1e-8), big, 1e-9).holds is False
    assert at_most(name, 1.0 + 1e-10, 1.0).holds is True
    assert at_most(name, 1.0 + 1e-8, 1.0).holds is False
    assert more_than(name, 0.0, 0.0).holds is False
    assert not_checked(name, name).holds is None
