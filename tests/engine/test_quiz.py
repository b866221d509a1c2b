"""The quiz answers, recomputed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.quiz import ANSWERS, compute

EXPECTED: dict[str, object] = {
    "q08_1": pytest.approx(1.45, abs=1e-12),
    "q08_1_largest": pytest.approx(0.276, abs=5e-4),
    "q08_3": [2, 3, 5, 2, 3, 6],
    "q08_4": pytest.approx(0.5, abs=1e-12),
    "q08_5": 0.0,
    "q09_1": [2, 4, 5, 8, 2, 4, 5, 5],
    "q09_2": 16_384,
    "q09_5": 3,
    "q09_6": 4,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_the_one_of_the_course(name: str) -> None:
    assert compute(name) == EXPECTED[name]


def test_an_unknown_answer_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="q99_9"):
        compute("q99_9")


def test_arithmetic_needs_no_torch() -> None:
    code = "import sys; from engine.quiz import compute; compute('q08_4'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
