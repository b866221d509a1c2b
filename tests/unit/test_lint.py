"""What an author can get wrong is told with file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tutor.course.catalog import lessons_root
from tutor.course.lint import lint

COURSE = """
[[part]]
id = 'a'
title = { zh = '一', en = 'One' }

[[lesson]]
id = 'L08'
slug = 'self-attention'
part = 'a'
title = { zh = '自注意力', en = 'Self-attention' }
minutes = 75
objectives = { zh = '乙', en = 'B' }
"""
EN = """# Title

## Once by hand {#hand}
Let $d_k = 2$ and

$$Z = \\frac{QK^\\top}{\\sqrt{d_k}}$$

| a | b |
|---|---|
| 1 | 2 |

```text
a ──▶ b
```

```predict
id = 'guess'
ask = 'How large?'
type = 'number'
answer_from = 'case.largest_weight'
tolerance = 0.1
explain = 'Equal.'
```

```lab
id = 'case'
name = 'sdpa'
params = { mode = 'own-sentence', sentence = 'the cat sat', d_k = 4 }
[[assert]]
value = 'entropy'
relation = '>'
bound = 0.0
```

It is {{case.largest_weight:.3f}}.

```quiz
id = 'Q08-1'
type = 'choice'
ask = 'Which?'
options = [
  { text = 'this', value = 'a', right = true, why = 'yes' },
  { text = 'that', value = 'b', why = 'no' },
]
explain = 'So.'
```

```exercise
id = 'E08-1'
signature = 'f(x)'
statement = 'Write f.'
```
"""
ZH = (
    EN.replace("Title", "标题")
    .replace("Once by hand", "手算一次")
    .replace("the cat sat", "猫 坐 下")
    .replace("Which?", "哪个？")
    .replace("Let ", "设 ")
)


def write(root: Path, en: str = EN, zh: str = ZH) -> Path:
    (root / "course.toml").write_text(COURSE, "utf-8")
    for language, text in (("en", en), ("zh", zh)):
        (root / language).mkdir(exist_ok=True)
        (root / language / "08-self-attention.md").write_text(text, "utf-8")
    return root


def told(root: Path) -> list[tuple[str, str]]:
    return [(fault.place, str(fault.message)) for fault in lint(root)]


def test_the_lessons_of_the_course_have_no_fault() -> None:
    assert told(lessons_root()) == []


def test_a_good_pack_has_no_fault(tmp_path: Path) -> None:
    assert told(write(tmp_path)) == []


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith(start))


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("id = 'E08-1'", "id = 'Q08-1'", "```exercise", "The id “Q08-1” is used twice."),
        ("case.largest_weight:.3f", "cas.largest_weight:.3f", "It is", "The lesson has no lab with the id “cas”."),
        ("largest_weight:.3f", "largest_weight:.3q", "It is", "“.3q” is no number format; write .2f."),
        ("largest_weight:.3f", "largest_weight:.999f", "It is", "“.999f” is no number format; write .2f."),
        ("tolerance = 0.1", "tolerance = -1", "tolerance", "The tolerance must not be less than 0."),
        ("tolerance = 0.1", "tolerance = nan", "tolerance", "“tolerance” must be a number."),
        ("name = 'sdpa'", "name = 'sdpa'\nseed = inf", "seed", "“seed” must be a number."),
        ("bound = 0.0", "bound = nan", "bound", "The assertion needs a bound: "),
        ("d_k = 4 }", f"d_k = {2**63} }}", "params", "A whole number takes more than the 64 bits that TOML allows."),
        ("d_k = 4 }", f"d_k = {'9' * 5000} }}", "bound = ", "This is not TOML: "),
        ("d_k = 4 }", f"d_k = {'[' * 5000} }}", "bound = ", "This is not TOML: "),
        ("case.largest_weight:.3f", "large", "It is", "“large” is no quote; write lab.value:.2f between the braces."),
        ("name = 'sdpa'", "name = 'sdpo'", "```lab", "There is no lab “sdpo”; did you mean “sdpa”?"),
        ("d_k = 4 }", "d_k = 40 }", "```lab", "key width d_k is 40, but it must lie between 1 and 16."),
        ("d_k = 4 }", "dk = 4 }", "```lab", "There is no parameter “dk”; did you mean “d_k”?"),
        ("answer_from = 'case.", "answer_from = 'cas.", "```predict", "The lesson has no lab with the id “cas”."),
        (
            "ask = 'How",
            "answer = 3\nask = 'How",
            "```predict",
            "There are two answers; write “answer” or “answer_from”.",
        ),
        (", right = true", "", "```quiz", "Exactly one option must be right; 0 are."),
        ("value = 'b', why", "value = 'b', right = true, why", "```quiz", "Exactly one option must be right; 2 are."),
        (", why = 'no'", "", "```quiz", "The option “that” has no “why”."),
        ("text = 'that'", "text = 'this'", "```quiz", "Two options are alike: “this”."),
        (
            "explain = 'So.'",
            "explain = 'Option B is it.'",
            "```quiz",
            "An explanation never names an option by a letter",
        ),
        ("explain = 'So.'\n", "", "id = 'Q08-1'", "The key “explain” is missing."),
        ("statement = 'Write f.'\n", "", "```exercise", "The exercise needs “signature” and “statement”."),
        ("$$Z = \\frac{QK^\\top}{\\sqrt{d_k}}$$", "$$Z = \\frac{QK$$", "$$Z", "The formula cannot be shown: "),
        ("a ──▶ b", "a " + "─" * 60 + "▶ b", "a ──", "The line takes 65 columns; 56 fit."),
        ("| 1 | 2 |", "| " + "很" * 30 + " | 2 |", "| a |", "The table takes 63 columns; 56 fit."),
        ("Let $d_k = 2$ and", "word " * 90, "word", "The paragraph takes 9 lines of the screen; 6 are enough."),
        ("It is ", "\n\n".join(["A line."] * 30) + " ", "## Once", "The step takes "),
    ],
)
def test_a_fault_is_told_with_file_and_line(tmp_path: Path, old: str, new: str, at: str, message: str) -> None:
    assert old in EN
    text = EN.replace(old, new, 1)
    found = told(write(tmp_path, en=text))
    place = f"en/08-self-attention.md:{line_of(text, at)}"
    assert any(where == place and told.startswith(message) for where, told in found), found


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("{#hand}", "{#by-hand}", "## ", "EN has no step “by-hand”."),
        ("d_k = 4 }", "d_k = 8 }", "```lab", "“params” of “case” differs from EN:LINE."),
        ("bound = 0.0", "bound = 0.1", "```lab", "“assert” of “case” differs from EN:LINE."),
        ("name = 'sdpa'", "name = 'shuffle'", "```lab", "“name” of “case” differs from EN:LINE."),
        ("tolerance = 0.1", "tolerance = 0.2", "```predict", "“tolerance” of “guess” differs from EN:LINE."),
        ("value = 'b'", "value = 'c'", "```quiz", "“options” of “Q08-1” differs from EN:LINE."),
        ("id = 'guess'", "id = 'guesses'", "## ", "EN has other blocks in this step: guess, case, Q08-1, E08-1."),
        ("QK^", "KQ^", "## ", "The displayed formulas of this step differ from EN:LINE."),
        ("$d_k = 2$", "$d_k = 3$", "## ", "Only one language has the formula “d_k=3” in this step."),
        ("weight:.3f", "weight:.2f", "## ", "Only one language quotes “case.largest_weight:.2f” in this step."),
        ("'f(x)'", "'g(x)'", "```exercise", "“signature” of “E08-1” differs from EN:LINE."),
    ],
)
def test_the_languages_may_differ_in_their_texts_only(
    tmp_path: Path, old: str, new: str, at: str, message: str
) -> None:
    assert old in ZH
    line = line_of(ZH, at)
    expected = message.replace("LINE", str(line)).replace("EN", "en/08-self-attention.md")
    found = told(write(tmp_path, zh=ZH.replace(old, new, 1)))
    assert (f"zh/08-self-attention.md:{line}", expected) in found


def test_a_second_lab_in_a_step_and_a_prediction_after_its_lab_are_refused(tmp_path: Path) -> None:
    start, end = EN.index("```predict"), EN.index("```lab")
    moved = EN[:start] + EN[end:] + "\n" + EN[start:end]
    found = told(write(tmp_path, en=moved + EN[end : EN.index("It is")].replace("'case'", "'again'")))
    assert any(text == "A prediction stands before its lab." for _, text in found)
    assert any(text == "A step has at most one lab." for _, text in found)


def test_a_missing_file_of_a_pair_is_told(tmp_path: Path) -> None:
    root = write(tmp_path)
    (root / "zh" / "08-self-attention.md").unlink()
    assert told(root) == [("zh/08-self-attention.md:1", "The file is missing; 08-self-attention.md has it.")]


def test_a_file_that_no_lesson_claims_is_told(tmp_path: Path) -> None:
    root = write(tmp_path)
    (root / "en" / "selfattention.md").write_text("# x", "utf-8")
    assert told(root) == [("en/selfattention.md:1", "No lesson of course.toml has this name; it should be NN-slug.md.")]


def test_bytes_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    root = write(tmp_path)
    (root / "zh" / "08-self-attention.md").write_bytes(ZH.encode("gbk", "replace"))
    assert ("zh/08-self-attention.md:1", "This is not UTF-8 text; save the file as UTF-8.") in told(root)


def test_a_step_that_covers_names_must_exist(tmp_path: Path) -> None:
    root = write(tmp_path)
    with (root / "course.toml").open("a", encoding="utf-8") as file:
        file.write("[lesson.covers]\nhand = ['A-05']\nfoot = ['A-10']\n")
    assert told(root) == [("course.toml:1", "L08 has no step “foot”, which “covers” names.")]


def test_an_empty_folder_is_told_not_raised(tmp_path: Path) -> None:
    assert [place for place, _ in told(tmp_path)] == ["course.toml:1"]


def test_faults_come_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    root = write(tmp_path, en=EN.replace("{#hand}", ""), zh=ZH.replace("explain = 'So.'\n", ""))
    faults = lint(root)
    assert len(faults) > 3
    assert [(fault.file, fault.line) for fault in faults] == sorted((fault.file, fault.line) for fault in faults)


def test_the_course_cut_at_any_line_is_linted_without_an_exception(tmp_path: Path) -> None:
    shutil.copytree(lessons_root(), tmp_path / "lessons")
    path = tmp_path / "lessons" / "zh" / "08-self-attention.md"
    lines = path.read_text("utf-8").split("\n")
    for cut in range(5, len(lines), 60):
        path.write_text("\n".join(lines[:cut]), "utf-8")
        assert lint(tmp_path / "lessons")
