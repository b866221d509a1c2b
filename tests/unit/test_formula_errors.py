"""What cannot be shown is said in one sentence, in both languages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tutor.text.formula import FormulaError, display, inline

ROOM = Path(__file__).parents[2] / "tutor"

FAULTS = {
    r"x + \foo y": r"unknown macro \foo at character 5",
    r"\begin{foo}x\end{foo}": "unknown environment foo at character 1",
    r"\frac{a": "braces or arguments do not match at character 8",
    r"a}b": "braces or arguments do not match at character 2",
    r"\frac\sqrt 2": r"\sqrt lacks its argument at character 6",
    r"a^": "nothing follows ^ at character 2",
    r"x_a_b": "a second subscript at character 4",
    r"x^a^b": "a second superscript at character 4",
    r"\left( x": r"\left without \right at character 1",
    r"x \right)": r"\right without \left at character 3",
    r"\left x y \right)": r"\left needs a delimiter at character 1",
    r"{a & b}": "a row or cell ends inside a group at character 4",
    r"a $x$": "a dollar sign inside a formula at character 3",
    r"50% more": r"a bare % hides the rest at character 3: write \%",
    "a\x1b[2J": "the character U+001B at position 2 cannot be shown",
    "\\begin{a\x07}": "the character U+0007 at position 9 cannot be shown",
    "\u0302x": "the character U+0302 at position 1 cannot be shown",
    "{" * 3000: "the formula is nested too deeply",
    "(" * 3000 + ")" * 3000: "the formula is nested too deeply",
}


@pytest.mark.parametrize("tex", FAULTS, ids=lambda tex: repr(tex[:20]))
def test_a_fault_is_named_with_its_place(tex: str) -> None:
    for render in (display, inline):
        with pytest.raises(FormulaError) as caught:
            render(tex)
        assert str(caught.value) == str(caught.value.message) == FAULTS[tex]


def test_every_message_has_a_chinese_sentence_with_the_same_fields() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    source = "".join(path.read_text("utf-8") for path in (ROOM / "text" / "formula").glob("*.py"))
    said = {ast.literal_eval(f'"{text}"') for text in re.findall(r'say\(\s*"((?:[^"\\]|\\.)*)"', source)}
    chinese = tomllib.loads((ROOM / "i18n" / "zh" / "formula.toml").read_text("utf-8"))
    assert said == set(chinese)
    for english, translated in chinese.items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", translated))


def test_importing_the_renderer_does_not_import_the_parser() -> None:
    code = "import sys, tutor.text.formula; print('pylatexenc' in sys.modules, 'textual' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]
