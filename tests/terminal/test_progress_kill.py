"""Real processes: killed at any moment, and two at once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from tutor.progress.store import Store

# Answers until it is stopped (or `count` times) and prints each uid once the future says that it is saved.
LEARNER = """
import sys
from pathlib import Path
from tutor.progress.records import Answer
from tutor.progress.store import Store

store = Store(Path(sys.argv[1]))
for n in range(int(sys.argv[2])):
    answer = Answer("self-attention", "scale", f"Q{n}", "注意力 🎉" * (n % 50), n % 2 == 0)
    saved = store.record_answer(answer).result()
    print(answer.uid if saved else f"not saved: {store.notice}", flush=True)
print("closed" if store.close() else "not closed")
"""

Process = subprocess.Popen[str]


def learner(folder: Path, count: int) -> Process:
    return subprocess.Popen(
        [sys.executable, "-c", LEARNER, str(folder), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def kept(folder: Path) -> set[str]:
    store = Store(folder)
    assert store.notice is None
    return {answer.uid for answer in store.answers()}


def test_kill_9_at_any_moment_loses_no_answer_that_was_confirmed(tmp_path: Path) -> None:
    confirmed: set[str] = set()
    dice = random.Random(0)
    for _round in range(15):
        process = learner(tmp_path, 1_000_000)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(dice.uniform(0, 0.1))
        process.kill()
        printed = [first, *process.communicate()[0].splitlines(keepends=True)]
        confirmed |= {line.strip() for line in printed if line.endswith("\n")}
        assert confirmed <= kept(tmp_path)
    assert len(confirmed) > 15
    assert list(tmp_path.glob("progress.damaged-*")) == []


def test_two_tutors_at_once_lose_nothing_and_never_see_a_locked_file(tmp_path: Path) -> None:
    folder = tmp_path / "new"  # both also try to create it
    both = [learner(folder, 100) for _ in range(2)]
    lines = [process.communicate()[0].split("\n") for process in both]
    for printed in lines:
        *uids, closed, end = printed
        assert (len(uids), closed, end) == (100, "closed", "")
        assert all(len(uid) == 32 for uid in uids), uids
    assert kept(folder) == {uid for printed in lines for uid in printed[:-2]}


def test_a_tutor_killed_beside_another_one_disturbs_it_not(tmp_path: Path) -> None:
    steady = learner(tmp_path, 150)
    dice = random.Random(1)
    for _round in range(3):
        victim = learner(tmp_path, 1_000_000)
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(dice.uniform(0, 0.05))
        victim.kill()
        victim.communicate()
    *uids, closed, _ = steady.communicate()[0].split("\n")
    assert (len(uids), closed) == (150, "closed")
    assert set(uids) <= kept(tmp_path)
