"""What runs without a card: the comparisons themselves, on the CPU against the CPU, and that they can fail."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from engine import layers
from engine.contract import labs as declared
from engine.labs import run
from tests.gpu.cases import CASES, PARTS
from tests.gpu.comparison import TOLERANCE, Call, Place, Work, compare, differ, tensors
from tests.gpu.lab_runs import agreement, quick_parameters


def test_every_layer_has_a_case() -> None:
    modules = {path.stem for path in Path(layers.__path__[0]).glob("*.py")} - {"__init__"}
    assert modules == set(CASES) | PARTS


@pytest.mark.parametrize("name", CASES)
def test_a_case_gives_the_same_twice_and_is_measured(name: str) -> None:
    measured = compare(CASES[name], "cpu")
    assert measured.difference == 0
    assert measured.tensors > 0
    assert f"{name} " in measured.line(name)


def test_outputs_and_the_gradient_of_every_weight_are_compared() -> None:
    def build(place: Place) -> Work:
        return Call(nn.Linear(3, 2), place.normal(4, 3))

    torch.manual_seed(0)  # the two layers differ: nn.Linear draws from the global stream
    measured = compare(build, "cpu")
    assert measured.tensors == 1 + 2
    assert measured.difference > TOLERANCE


def test_differences_are_relative_where_numbers_are_large_and_spare_equal_infinities() -> None:
    infinite = torch.tensor([float("inf"), float("nan"), 1000.0])
    assert differ(infinite.clone(), infinite) == 0
    assert differ(torch.tensor([1000.1]), torch.tensor([1000.0])) == pytest.approx(1e-4, rel=1e-3)
    assert differ(torch.tensor([0.1001]), torch.tensor([0.1])) == pytest.approx(1e-4, rel=1e-2)


def test_tensors_are_found_in_nests_of_traces() -> None:
    @dataclass
    class Trace:
        first: Tensor
        rest: list[Tensor]
        name: str = "x"

    one, two, three = torch.zeros(1), torch.zeros(2), torch.zeros(3)
    assert [len(found) for found in tensors((one, [Trace(two, [three])]))] == [1, 2, 3]


QUICK = [name for name in declared.names() if not declared.declaration(name).trains]


@pytest.mark.parametrize("name", ["sdpa", "cost", "heads", "families"])
def test_a_run_agrees_with_itself(name: str) -> None:
    assert name in QUICK
    assert agreement(run(name), run(name)) == 0


def test_runs_that_differ_do_not_agree() -> None:
    assert agreement(run("heads", seed=1), run("heads", seed=2)) > TOLERANCE


def test_training_labs_are_run_with_their_fewest_steps() -> None:
    for name in declared.names():
        parameters = quick_parameters(name)
        if declared.declaration(name).trains:
            assert parameters.get("steps", 0) >= 0
        else:
            assert parameters == {}


def test_building_every_model_loads_no_compiler() -> None:
    code = (
        "import sys, torch; from engine.layers.gpt import GPT; from engine.layers.t5 import T5;"
        "from engine.layers.transformer import Transformer; GPT(9, 8, 2, 1, 6); T5(9, 8, 2, 4, 1, 8);"
        "Transformer(9, 9, 8, 2, 1, 8); print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"  # it takes as long as torch itself, before a lab's first step
