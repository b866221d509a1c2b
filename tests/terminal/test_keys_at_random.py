"""Keys and window sizes at random: the tutor neither ends nor stops listening."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.terminal.pty_app import PtyApp

KEYS = (
    *["\r"] * 6,
    *["\t"] * 4,
    *"]][plzmtdyc:srna123f ",
    *["\x1b", "\x1b"],
    *["\x1b[A", "\x1b[B", "\x1b[B", "\x1b[C", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x7f"],
    *["0.4", "我 爱 你", "😀 the"],
    *["\x1bOQ", "\x1bOR", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~"],
)
SIZES = ((80, 24), (120, 36), (200, 50), (61, 21), (50, 15))
HELP, ESCAPE = "\x1bOP", "\x1b"


def listens(tutor: PtyApp) -> bool:
    """Whether F1 shows the keys; a window that is too small, or a list in the way, may need an escape first."""
    for _ in range(3):
        tutor.settle(0.3)
        tutor.send(HELP)
        try:
            tutor.wait("F8", seconds=10)
        except AssertionError:
            if tutor.wait_for_exit(0) is not None:
                return False
            tutor.send(ESCAPE)
            continue
        tutor.send(ESCAPE)
        tutor.settle(0.3)
        return True
    return False


@pytest.mark.extreme
@pytest.mark.parametrize("seed", range(12))
def test_the_tutor_takes_any_keys_in_any_order(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lesson = chance.choice(["self-attention", "multi-head"])
    with PtyApp("--lang", chance.choice(["zh", "en"]), lesson, home=tmp_path, size=SIZES[seed % 3]) as tutor:
        tutor.wait("L0")
        typed: list[object] = []
        for _ in range(8):
            for _ in range(chance.randint(5, 25)):
                if chance.random() < 0.05:
                    size = chance.choice(SIZES)
                    tutor.resize(*size)
                    typed.append(size)
                typed.append(chance.choice(KEYS))
                tutor.send(str(typed[-1]))
                if pause := chance.choice([0, 0, 0.01, 0.05, 0.2]):
                    tutor.settle(pause)
            tutor.resize(80, 24)
            if not listens(tutor):
                pytest.fail(f"after {typed}:\n{tutor.text()}\n{_log(tmp_path)}")


def _log(home: Path) -> str:
    log = home / "tutor.log"
    return log.read_text("utf-8")[-3000:] if log.exists() else ""
