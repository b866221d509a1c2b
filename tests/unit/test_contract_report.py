"""Arrays and reports: what the engine sends is what a front end reads."""

from __future__ import annotations

import struct

import msgspec
import pytest

from engine.contract.message import Message, say
from engine.contract.report import Array, Bars, Note, Progress, Report


def doubles(*numbers: float, shape: tuple[int, ...]) -> Array:
    return Array("float64", shape, struct.pack(f"={len(numbers)}d", *numbers))


def test_an_array_reads_as_rows_and_by_index() -> None:
    array = doubles(1, 2, 3, 4, 5, 6, shape=(2, 3))
    assert array.rows() == [[1, 2, 3], [4, 5, 6]]
    assert array.at(1, 0) == 4
    assert list(array.flat()) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("dtype", "data", "numbers"),
    [
        ("float32", struct.pack("=2f", 0.5, -1.5), [0.5, -1.5]),
        ("int64", struct.pack("=2q", -3, 2**40), [-3, 2**40]),
        ("bool", b"\0\1", [False, True]),
    ],
)
def test_every_dtype_reads_its_own_bytes(dtype: str, data: bytes, numbers: list[float]) -> None:
    array = msgspec.convert({"dtype": dtype, "shape": [2], "data": data}, Array)
    assert list(array.flat()) == numbers


def test_bytes_that_do_not_fill_the_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="8 bytes do not fill float64"):
        doubles(1.0, shape=(2,))


def test_a_report_survives_the_wire_with_its_messages() -> None:
    text = say("Head {head}", head=2)
    bars = Bars("bars", text, ("猫", say("query")), doubles(1, float("inf"), shape=(2,)), say("value"))
    report = Report((bars, Note("note", text)), {"a": [1.0], "b": True, "c": 3, "d": "猫"}, seed=4)
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(report), type=Report)
    assert copy == report
    assert copy.panel("note") == Note("note", text)
    with pytest.raises(KeyError):
        report.panel("nothing")


def test_a_message_fills_its_fields_and_nested_messages() -> None:
    inner = say("not checked: {reason}", reason=say("no word is repeated"))
    assert str(inner) == "not checked: no word is repeated"
    assert str(Message("{share:.1%} of {n:,}", {"share": 0.125, "n": 1000})) == "12.5% of 1,000"
    assert str(Message("braces {stay} without values")) == "braces {stay} without values"


def test_progress_knows_its_fraction() -> None:
    progress = Progress(0.5, say("queries"))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(progress), type=Progress) == progress
