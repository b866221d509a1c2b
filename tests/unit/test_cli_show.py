import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from engine.contract.labs import declaration
from engine.contract.message import say
from engine.contract.protocol import Failed
from tests.unit.cli import Call, InProcessClient, call, clients
from tutor.course.catalog import Catalog
from tutor.course.model import Lesson, LessonInfo

__all__ = ["call", "clients"]

CATALOG = Catalog()


def trains(info: LessonInfo) -> bool:
    """Tell whether a lab of the lesson trains, which takes seconds."""
    return any(declaration(lab.name).trains for lab in CATALOG.lesson(info, "en").labs)


LESSONS = [
    pytest.param(info.slug, marks=[pytest.mark.extreme] if trains(info) else []) for info in CATALOG.course.lessons
]

COURSE = """
[[part]]
id = 'one'
title = { zh = '一', en = 'One' }
[[lesson]]
id = 'L01'
slug = 'small'
title = { zh = '小课', en = 'A small lesson' }
part = 'one'
minutes = 5
"""

LESSON = """# A small lesson
## First {#first}
Prose with $x_1$ and {{mixed.error:.0e}}.

```predict
id = 'p'
ask = 'Does $f$ change?'
type = 'choice'
options = [
  { text = 'no', value = 'n', right = true, why = 'Because.' },
  { text = 'yes', value = 'y', why = 'It does not.' },
]
explain = 'It never does.'
```

```lab
id = 'mixed'
name = 'shuffle'
params = { text = 'a b c d' }
notice = 'Look at the rows.'
```

```predict
id = 'q'
ask = 'How many rows follow?'
type = 'number'
answer_from = 'mixed.error'
tolerance = 0.1
explain = 'Rounding.'
```

```exercise
id = 'E01-1'
signature = 'f(x: Tensor) -> Tensor'
statement = 'Write f.'
```

## Second {#second}
Nothing to run.

```quiz
id = 'Q01-1'
type = 'number'
ask = 'What is 1 + 1?'
answer = 2
explain = 'Count.'
```
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    (folder / "en").mkdir(parents=True)
    (folder / "course.toml").write_text(COURSE, "utf-8")
    (folder / "en" / "01-small.md").write_text(LESSON, "utf-8")
    return folder


def lesson(slug: str, language: str) -> Lesson:
    catalog = Catalog()
    return catalog.lesson(catalog.resolve(slug).info, language)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("slug", LESSONS)
def test_a_whole_lesson_is_printed_in_order_with_its_labs_run(
    call: Call, clients: list[InProcessClient], slug: str, language: str
) -> None:
    done = call("show", slug, "--plain", "--lang", language)
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "\u0000" not in done.out
    shown = lesson(slug, language)
    assert shown.title in done.out.splitlines()[0]
    places = [done.out.index(f"\n{slug}#{step.id}\n") for step in shown.steps]
    assert places == sorted(places)
    (client,) = clients
    assert len(client.asked) == len(shown.labs)
    assert client.closed
    assert max(cell_len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("slug", LESSONS)
def test_every_live_number_of_a_lesson_is_filled_in(
    call: Call, clients: list[InProcessClient], slug: str, language: str
) -> None:
    with_numbers = call("show", slug, "--lang", language).out
    without = call("show", slug, "--no-run", "--lang", language).out
    quotes = sum(len(step.quotes()) for step in lesson(slug, language).steps)
    assert "{{" not in with_numbers + without
    if quotes:  # "x₁, …, xₙ" stays; a blank goes
        assert [line for line in without.splitlines() if "…" in line and line not in with_numbers]


def test_no_run_starts_no_engine(call: Call, clients: list[InProcessClient]) -> None:
    assert call("show", "self-attention", "--no-run").code == 0
    assert clients == []


def test_questions_stand_in_the_text_and_answers_at_the_end(
    call: Call, clients: list[InProcessClient], pack: Path
) -> None:
    out = call("show", "small", "--lessons", str(pack)).out
    text, answers = out.split("Answers\n═══════\n")
    assert "Predict  Does f change?" in text
    assert "Because." not in text
    assert "It never does." not in text
    assert "→ 2" not in text
    assert "tutor run shuffle --text 'a b c d'" in text
    assert "Look at the rows." in text
    assert re.search(r"Prose with x₁ and \de-1\d\.", text)
    assert "f(x: Tensor) -> Tensor" in text
    assert "→ no\n" in answers
    assert re.search(r"[ab]\) no: Because\.", answers)
    assert "Quiz Q01-1  What is 1 + 1?\n  → 2\n  Count." in answers
    assert re.search(r"How many rows follow\?\n  → \d\.\d+e-1\d", answers)


def test_a_step_alone_runs_only_what_it_needs(call: Call, clients: list[InProcessClient], pack: Path) -> None:
    out = call("show", "small#second", "--lessons", str(pack)).out
    assert "Nothing to run." in out
    assert "Prose with" not in out
    assert [client.asked for client in clients] == [[]]
    assert "2. Second" in out


def test_a_lab_that_fails_is_told_where_its_result_would_stand(
    call: Call, clients: list[InProcessClient], pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Failed(1, "crashed", say("The machine has too little free memory for this run."))
    monkeypatch.setattr(InProcessClient, "events", lambda self, number: iter([failed]))
    done = call("show", "small", "--lessons", str(pack))
    assert done.code == 1
    assert "The machine has too little free memory for this run." in done.out
    assert "What is 1 + 1?" in done.out


def test_a_lesson_in_the_other_language_is_shown_and_says_so(
    call: Call, clients: list[InProcessClient], pack: Path
) -> None:
    done = call("show", "small", "--lessons", str(pack), "--lang", "zh", "--no-run")
    assert done.code == 0
    assert "A small lesson" in done.out
    assert done.err.startswith("tutor: ")


def test_a_broken_lesson_is_still_printed(call: Call, clients: list[InProcessClient], pack: Path) -> None:
    (pack / "en" / "01-small.md").write_bytes(
        b"no title\n```lab\nid = 'x\n```\n## Step {#s}\n$\\frac{$ {{a.b}} \x1b[2J \xff\n"
        b"```lab\nid = 'x'\nname = 'nosuch'\n```\n```lab\nid = 'y'\nname = 'shuffle'\nparams = { text = 'a' }\n```\n"
    )
    done = call("show", "small", "--lessons", str(pack))
    assert done.code == 1
    assert "\x1b" not in done.out
    assert "nosuch" in done.out
    assert "at least 2" in done.out


@pytest.mark.parametrize(
    ("words", "part"),
    [([], "self-attention"), (["nothing"], "L08"), (["self-attention#nothing"], "scale"), ([""], "L08")],
)
def test_a_lesson_that_is_not_there_is_refused(call: Call, words: list[str], part: str) -> None:
    done = call("show", *words)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


@pytest.mark.parametrize(("columns", "widest"), [("50", 50), ("120", 100), ("7", 30), ("nonsense", 80), ("0", 80)])
def test_prose_keeps_to_the_columns_asked_for(
    call: Call, pack: Path, monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    (pack / "en" / "01-small.md").write_text(f"# T\n## S {{#s}}\n{'word ' * 200}\n", "utf-8")
    monkeypatch.setenv("COLUMNS", columns)
    lines = call("show", "small", "--lessons", str(pack)).out.splitlines()
    assert widest - 5 < max(map(cell_len, lines)) <= widest


def test_colour_is_for_terminals(call: Call, clients: list[InProcessClient], pack: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("tutor.cli.output.is_terminal", lambda stream: True)
    words = ("show", "small", "--lessons", str(pack))
    assert "\x1b[" in call(*words).out
    assert "\x1b" not in call(*words, "--plain").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in call(*words).out
