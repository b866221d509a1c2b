"""Markdown becomes steps and blocks with their lines; what cannot be understood becomes a fault, never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.course.model import Bilingual, Exercise, LabBlock, Lesson, LessonInfo, Predict, Prose, Quiz
from tutor.course.parse import parse, parse_file

INFO = LessonInfo("L08", "self-attention", Bilingual("自注意力", "Self-attention"), "attention", 75)

LESSON = """# Title

## Why divide {#scale}
Some *prose*.

```text
## no step, ```lab neither
```

```predict
id = 'guess'
ask = 'How large?'
type = 'number'
answer_from = 'wide.max_weight'
tolerance = 0.1
explain = 'Saturated.'
```
```lab
id = 'wide'
name = 'sqrt-dk'
params = { d_k = 1024, scale = ['none'] }
notice = 'Look.'
[[assert]]
value = 'max_weight'
relation = '>'
bound = 0.9
[[assert]]
value = 'weights[0]'
relation = '~'
bound = 0.5
tolerance = 0.1
```
Measured {{wide.max_weight:.2f}}.

## Next {#next}
```quiz
id = 'Q1'
type = 'choice'
ask = 'Which?'
options = [
  { text = 'this', value = 'a', right = true, why = 'yes' },
  { text = 'that', value = 'b', why = 'no' },
]
explain = 'So.'
```
```exercise
id = 'E1'
signature = 'f(x)'
statement = 'Write f.'
```
"""


def read(text: str, language: str = "en") -> Lesson:
    return parse(text, "en/08-self-attention.md", INFO, language)


def faults(text: str) -> list[tuple[int, str]]:
    return [(fault.line, str(fault.message)) for fault in read(text).faults]


def test_a_lesson_becomes_its_title_steps_and_blocks() -> None:
    lesson = read(LESSON)
    assert lesson.faults == ()
    assert lesson.title == "Title"
    assert [(step.id, step.title, step.line) for step in lesson.steps] == [
        ("scale", "Why divide", 3),
        ("next", "Next", 35),
    ]
    kinds = [[type(block) for block in step.blocks] for step in lesson.steps]
    assert kinds == [[Prose, Predict, LabBlock, Prose], [Quiz, Exercise]]


def test_every_block_knows_its_line() -> None:
    blocks = [block for step in read(LESSON).steps for block in step.blocks]
    lines = LESSON.split("\n")
    starts = ["Some *prose*.", "```predict", "```lab", "Measured {{wide.max_weight:.2f}}.", "```quiz", "```exercise"]
    assert [lines[block.line - 1] for block in blocks] == starts


def test_a_lab_keeps_parameters_and_assertions() -> None:
    lab = read(LESSON).lab("wide")
    assert lab is not None
    assert lab.params == {"d_k": 1024, "scale": ["none"]}
    assert [(claim.value, claim.relation, claim.bound, claim.tolerance) for claim in lab.asserts] == [
        ("max_weight", ">", 0.9, 0.0),
        ("weights[0]", "~", 0.5, 0.1),
    ]
    assert [LESSON.split("\n")[claim.line - 1] for claim in lab.asserts] == ["[[assert]]", "[[assert]]"]
    assert lab.asserts[1].line == lab.asserts[0].line + 4


def test_the_right_option_is_the_answer() -> None:
    quiz = read(LESSON).steps[1].quizzes[0]
    assert quiz.answer == "a"
    assert [option.value for option in quiz.options] == ["a", "b"]


def test_a_diagram_stays_in_the_prose_and_its_hashes_are_no_steps() -> None:
    prose = read(LESSON).steps[0].blocks[0]
    assert isinstance(prose, Prose)
    assert prose.source.endswith("```text\n## no step, ```lab neither\n```")


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ["it grows", "it shrinks", "it stays the same"]), ("zh", ["变大", "变小", "不变"])],
)
def test_a_direction_has_its_three_options_in_the_language(language: str, words: list[str]) -> None:
    block = "```predict\nid='a'\nask='b'\ntype='direction'\nanswer='up'\nexplain='c'\n```\n"
    predict = read(f"# T\n## S {{#s}}\n{block}", language).steps[0].predictions[0]
    assert [option.text for option in predict.options] == words
    assert [option.value for option in predict.options] == ["up", "down", "same"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("## S {#s}\nx", 1, "The lesson has no title; begin the file with “# Title”."),
        ("# T\n", 1, "The lesson has no steps; begin one with “## Title {#id}”."),
        ("# T\nhello\n## S {#s}\nx", 2, "Text stands before the first step; begin a step with “## Title {#id}”."),
        ("# T\n## S\nx", 2, "The step has no id; end its heading with “{#id}”."),
        ("# T\n## S {#Bad Id}\nx", 2, "“Bad Id” is no step id; use small letters, digits and hyphens."),
        ("# T\n## S {#s}\nx\n# U", 4, "A lesson has one title, on its first line."),
        ("# T\n## S {#s}\n```lab\nid = 'a'\n", 3, "The block “lab” is never closed; end it with ```."),
        ("# T\n## S {#s}\n```quiz\n```", 3, "The block is empty."),
        ("# T\n## S {#s}\n\nbell \x07", 4, "The line holds the control character U+0007; remove it."),
        ("# T\n## S {#s}\nleft \u202e right", 3, "The line holds the control character U+202E; remove it."),
    ],
)
def test_a_fault_is_told_with_its_line(text: str, line: int, message: str) -> None:
    assert (line, message) in faults(text)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("id = 'a'\nname = ", 5, "This is not TOML: Invalid value."),
        ("id = 'a'\nnme = 'sdpa'", 5, "There is no key “nme” here; did you mean “name”?"),
        ("id = 'a'\nname = 'sdpa'\nnotice = \"\\frac\"", 6, "A backslash stands in a basic string"),
        ('id = "a"\nname = """\nx\n\\top"""', 7, "A backslash stands in a basic string"),
        ("id = 'a'\nname = 3", 5, "“name” must be text."),
        ("id = 'a'\nname = 'sdpa'\nseed = -1", 6, "The seed must be a whole number from 0 to 9999."),
        (
            "id = 'a'\nname = 'sdpa'\n[[assert]]\nvalue = 'x'\nrelation = '='\nbound = 1",
            8,
            "“relation” must be one of: ==, !=, <, <=, >, >=, ~.",
        ),
        (
            "id = 'a'\nname = 'sdpa'\n[[assert]]\nvalue = 'x'\nrelation = '~'\nbound = 1",
            8,
            "The relation ~ needs a tolerance greater than 0.",
        ),
    ],
)
def test_a_fault_inside_a_block_is_told_with_its_line(body: str, line: int, message: str) -> None:
    found = faults(f"# T\n## S {{#s}}\n```lab\n{body}\n```\n")
    assert any(at == line and text.startswith(message) for at, text in found), found


def test_a_backslash_in_a_literal_string_or_a_comment_is_fine() -> None:
    lab = "```lab\nid = 'a' # \"\\frac\"\nname = 'sdpa'\nnotice = '$\\frac{a}{b}$'\n```\n"
    lesson = read(f"# T\n## S {{#s}}\n{lab}")
    assert lesson.faults == ()
    assert lesson.labs[0].notice == r"$\frac{a}{b}$"


def test_a_broken_block_leaves_the_rest_of_the_lesson() -> None:
    lesson = read(LESSON.replace("ask = 'How large?'", "ask = "))
    assert len(lesson.faults) == 1
    assert [type(block) for block in lesson.steps[0].blocks] == [Prose, LabBlock, Prose]


def test_bytes_that_are_not_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "en" / "08-self-attention.md"
    path.parent.mkdir()
    path.write_bytes("# 标题\n## 步 {#s}\n".encode() + "中文".encode("gbk") + b"\n")
    lesson = parse_file(path, tmp_path, INFO, "zh")
    assert (lesson.faults[0].place, str(lesson.faults[0].message)) == (
        "en/08-self-attention.md:3",
        "This is not UTF-8 text; save the file as UTF-8.",
    )
    assert lesson.steps[0].title == "步"


@pytest.mark.parametrize("text", ["", "# T", "hello"])
def test_a_lesson_without_steps_still_has_a_place_to_be(text: str) -> None:
    lesson = read(text)
    assert [(step.id, step.blocks) for step in lesson.steps] == [("step-1", ())]
    assert lesson.faults


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    lesson = parse_file(tmp_path / "x.md", tmp_path, INFO, "en")
    assert [fault.place for fault in lesson.faults] == ["x.md:1"]


@given(st.text(alphabet="#`~ \n{}lab'=[]\"$\\\x00一a1", max_size=200))
def test_no_text_whatever_makes_the_reader_fail(text: str) -> None:
    lesson = read(f"# T\n## S {{#s}}\n{text}")
    assert all(1 <= fault.line <= text.count("\n") + 3 for fault in lesson.faults)


@given(st.integers(0, 60))
def test_a_lesson_cut_anywhere_is_still_read(cut: int) -> None:
    lines = LESSON.split("\n")
    assert read("\n".join(lines[:cut])).info is INFO
