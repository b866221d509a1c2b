"""`tutor probe`: the file is read here and sent, the report is printed, every mistake is one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.contract.message import say
from engine.contract.protocol import Failed
from tests.unit.cli import Call, call
from tests.unit.looking import LookingClient, looking
from tutor.cli.probe import split_name

__all__ = ["call", "looking"]

SOURCE = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return torch.softmax(self.query(x) @ self.key(x).mT, -1) @ x

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "my.py").write_text(SOURCE, "utf-8")
    return str(tmp_path / "my.py")


def test_a_module_is_printed_with_its_parts_maps_and_gradients(
    call: Call, looking: list[LookingClient], mine: str
) -> None:
    done = call("probe", f"{mine}:Attention", "--text", "我 爱 🙂 猫", "--plain")
    assert (done.code, done.err) == (0, "")
    for part in ("The parts of Attention", "Linear", "Attention in Attention", "🙂", "query.weight", "not malice"):
        assert part in done.out
    assert "\x1b" not in done.out
    assert looking[0].closed


def test_the_json_has_the_file_the_name_and_the_maps(call: Call, looking: list[LookingClient], mine: str) -> None:
    done = call("probe", f"{mine}:Attention", "--text", "a b c", "--seed", "3", "--json").json
    assert done["lab"] == "probe"
    assert done["params"] == {"file": mine, "name": "Attention", "text": "a b c"}
    assert done["seed"] == 3
    (picture,) = [panel for panel in done["panels"] if panel["kind"] == "heatmap"]
    assert [sum(row) for row in picture["values"]] == pytest.approx([1, 1, 1], abs=1e-6)


def test_only_the_name_of_the_file_and_its_text_leave_this_machine(
    call: Call, looking: list[LookingClient], mine: str
) -> None:
    call("probe", f"{mine}:Plain")
    (request,) = looking[0].asked
    assert (request.file, getattr(request, "source", "")) == ("my.py", SOURCE)


@pytest.mark.parametrize(("language", "token"), [("en", "mat"), ("zh", "垫子")])
def test_a_text_is_there_in_the_learners_language(
    call: Call, looking: list[LookingClient], mine: str, language: str, token: str
) -> None:
    done = call("probe", f"{mine}:Attention", "--lang", language, "--json").json
    (picture,) = [panel for panel in done["panels"] if panel["kind"] == "heatmap"]
    assert token in picture["column_labels"]


def test_chinese_speaks_chinese(call: Call, looking: list[LookingClient], mine: str) -> None:
    out = call("probe", f"{mine}:Attention", "--lang", "zh", "--plain").out
    assert "Attention 的组成" in out
    assert "只防意外，不防恶意" in out
    assert (
        call("probe", f"{mine}:Attentoin", "--lang", "zh").err == "tutor: my.py 里没有 Attentoin；是不是 Attention？\n"
    )


MISTAKES: list[tuple[list[str], str, str]] = [
    ([], "file", "Name the file to probe"),
    (["nothing.py"], "file", "The file nothing.py cannot be read: it does not exist."),
    (["{folder}"], "file", "it is a folder"),
    (["{mine}"], "name", "my.py defines several: Attention, Plain; name one as my.py:NAME."),
    (["{mine}:Nope"], "name", "There is no Nope in my.py; there are: Attention, Plain."),
    (["{mine}:Plain", "--text", "one"], "text", "at least 2 are needed"),
    (["{mine}:Plain", "--text", ""], "text", "text is empty"),
    (["{mine}:Plain", "--seed", "x"], "seed", "seed takes a whole number"),
    (["{latin}"], "file", "is not UTF-8 text"),
    (["{large}"], "file", "is larger than 1,048,576 bytes"),
]


@pytest.mark.parametrize(("words", "field", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    call: Call, looking: list[LookingClient], mine: str, tmp_path: Path, words: list[str], field: str, sentence: str
) -> None:
    (tmp_path / "latin.py").write_bytes("# caf\xe9".encode("latin-1"))
    (tmp_path / "large.py").write_bytes(b"#" * (1 << 20) + b"#")
    places = {"mine": mine, "folder": tmp_path, "latin": tmp_path / "latin.py", "large": tmp_path / "large.py"}
    filled = [word.format(**places) for word in words]
    done = call("probe", *filled)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert call("probe", *filled, "--json").json["error"]["field"] == field


@pytest.mark.parametrize("code", ["timeout", "out-of-memory", "crashed"])
def test_what_happens_to_the_process_is_told(
    call: Call, looking: list[LookingClient], mine: str, code: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = say("It did not end within {seconds:g} s and was stopped.", seconds=20.0)
    monkeypatch.setattr(LookingClient, "events", lambda *_: iter([Failed(1, code, message, "file")]))
    done = call("probe", f"{mine}:Plain")
    assert done.code == (2 if code == "timeout" else 69)
    assert done.err == "tutor: It did not end within 20 s and was stopped.\n"


def test_code_whose_answer_is_never_the_same_exits_with_1(
    call: Call, looking: list[LookingClient], tmp_path: Path
) -> None:
    (tmp_path / "dice.py").write_text("import torch\ndef f(x): return x + torch.rand(1)", "utf-8")
    assert call("probe", str(tmp_path / "dice.py")).code == 1


def test_a_colon_in_the_name_of_a_file_belongs_to_it(tmp_path: Path) -> None:
    odd = tmp_path / "a:b"
    odd.write_text("x", "utf-8")
    assert split_name(str(odd)) == (str(odd), "")
    assert split_name("my.py:Attention") == ("my.py", "Attention")
    assert split_name("my.py") == ("my.py", "")
    assert split_name("C:\\my.py") == ("C:\\my.py", "")


def test_the_help_says_what_the_limits_are_worth(call: Call) -> None:
    assert "accidents, not malice" in " ".join(call("probe", "--help").out.split())
    assert "只防意外，不防恶意" in call("probe", "--help", "--lang", "zh").out.replace("\n", "")
