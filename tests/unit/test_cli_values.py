import io
import os
from pathlib import Path

import pytest

from engine.contract.kinds import Integer, Numbers, Text
from engine.contract.message import say
from tutor.cli.errors import UsageError
from tutor.cli.values import Values

SENTENCE = Text(say("sentence"), zh="", en="", most=20)
MATRIX = Numbers(say("keys K"), "matrix")
HEADS = Integer(say("number of heads"), 1, 8)


class Endless(io.RawIOBase):
    """Gives bytes for ever, and counts them."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        """Give as many as were asked for."""
        self.given += size
        return b"a" * size


def refusal(field: str, kind: Text | Integer | Numbers, given: str) -> str:
    with pytest.raises(UsageError) as refused:
        Values().read(field, kind, given)
    assert refused.value.field == field
    return str(refused.value.message)


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("value", ["the cat", "", "-1 0; 0 1", "a@b"])
def test_a_value_is_itself(value: str) -> None:
    assert Values().read("sentence", SENTENCE, value) == value


def test_two_ats_begin_a_value_with_one() -> None:
    assert Values().read("sentence", SENTENCE, "@@home sweet") == "@home sweet"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"the cat\n", "the cat"),
        ("\ufeff猫 坐 在\r\n".encode(), "猫 坐 在"),
        (b"", ""),
        ("猫".encode() * 20, "猫" * 20),
    ],
)
def test_a_file_and_stdin_are_read_as_utf8(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, text: str
) -> None:
    file = tmp_path / "my text"
    file.write_bytes(data)
    assert Values().read("sentence", SENTENCE, f"@{file}") == text
    stdin(monkeypatch, data)
    assert Values().read("sentence", SENTENCE, "-") == text


def test_an_endless_source_is_read_no_further_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Endless()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": source})())
    assert refusal("sentence", SENTENCE, "-") == "sentence takes at most 20 characters, but stdin holds more."
    assert source.given <= 4 * 20 + 1
    assert refusal("keys", MATRIX, "-") == "keys K takes at most 100,000 characters, but stdin holds more."
    assert refusal("heads", HEADS, "-") == "number of heads takes at most 200 characters, but stdin holds more."


def test_ten_megabytes_of_bytes_are_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(os.urandom(10_000_000))
    assert "takes at most 20 characters" in refusal("sentence", SENTENCE, f"@{file}")


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gbk").write_bytes("猫 坐".encode("gbk"))
    assert refusal("sentence", SENTENCE, f"@{tmp_path}/gbk").endswith("is not UTF-8 text; save it as UTF-8.")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert refusal("sentence", SENTENCE, "@/no/such") == (
        "sentence: the file /no/such cannot be read: it does not exist."
    )
    assert refusal("sentence", SENTENCE, f"@{tmp_path}").endswith("cannot be read: it is a folder.")
    assert "cannot be read" in refusal("sentence", SENTENCE, "@a\0b")
    assert "cannot be read" in refusal("sentence", SENTENCE, "@")


def test_stdin_can_be_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"1 0")
    values = Values()
    assert values.read("keys", MATRIX, "-") == "1 0"
    with pytest.raises(UsageError) as refused:
        values.read("values", MATRIX, "-")
    assert str(refused.value.message) == "stdin has already been read for keys; use @FILE here."
