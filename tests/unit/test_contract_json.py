"""The JSON of a run: schema 1, plain values, nothing `json.dumps` would refuse or change."""

from __future__ import annotations

import json
import struct

from engine.contract.json import error_json, report_json
from engine.contract.message import say
from engine.contract.report import Array, Column, Detail, Heatmap, Invariant, Report, Table
from tutor.i18n import translate

NAN, INFINITY = float("nan"), float("inf")


def doubles(*numbers: float, shape: tuple[int, ...]) -> Array:
    return Array("float64", shape, struct.pack(f"={len(numbers)}d", *numbers))


HEATMAP = Heatmap(
    "head-1",
    say("Head {head}", head=1),
    doubles(0.5, 0.5, NAN, INFINITY, shape=(2, 2)),
    ("猫", "狗"),
    ("猫", "狗"),
    say("queries"),
    say("keys"),
    0.0,
    1.0,
    details=(Detail(say("score"), doubles(1, 2, 3, 4, shape=(2, 2))),),
)
TABLE = Table("t", say("Scores"), (Column(say("query")), Column(say("value"), ".2f")), ((say("query"), -INFINITY),))
REPORT = Report(
    (HEATMAP, TABLE),
    {"weights": [0.25, NAN], "share": 0.5, "holds": True, "n": 2},
    (Invariant(say("the rows differ"), None, say("not checked: {reason}", reason=say("no word is repeated"))),),
    seconds=0.123456789,
    seed=3,
)


def test_a_run_is_one_object_of_schema_1() -> None:
    printed = json.loads(json.dumps(report_json("heads", {"heads": 4, "keys": ((1.0, 0.0),)}, REPORT), allow_nan=False))
    assert list(printed) == ["schema", "lab", "params", "device", "seed", "seconds", "values", "invariants", "panels"]
    assert printed["schema"] == 1
    assert printed["params"] == {"heads": 4, "keys": [[1.0, 0.0]]}
    assert (printed["device"], printed["seed"], printed["seconds"]) == ("cpu", 3, 0.123457)
    assert printed["values"] == {"weights": [0.25, "nan"], "share": 0.5, "holds": True, "n": 2}
    assert printed["invariants"] == [
        {"name": "the rows differ", "holds": None, "detail": "not checked: no word is repeated"}
    ]


def test_panels_name_their_kind_first_and_nest_their_numbers() -> None:
    heatmap, table = report_json("heads", {}, REPORT)["panels"]
    assert next(iter(heatmap.items())) == ("kind", "heatmap")
    assert heatmap["values"] == [[0.5, 0.5], ["nan", "inf"]]
    assert heatmap["row_labels"] == ["猫", "狗"]
    assert heatmap["details"] == [{"name": "score", "values": [[1.0, 2.0], [3.0, 4.0]]}]
    assert table["rows"] == [["query", "-inf"]]


def test_texts_come_in_the_language_asked_for() -> None:
    printed = report_json("heads", {}, REPORT, lambda message: translate(message, "zh"))
    assert printed["panels"][0]["title"] == "第 1 个头"
    assert printed["panels"][1]["rows"][0][0] == "查询"
    assert printed["invariants"][0]["detail"] == "未检查：没有重复的词"


def test_a_failure_names_code_message_and_field() -> None:
    assert error_json("invalid", "no", "heads") == {
        "schema": 1,
        "error": {"code": "invalid", "message": "no", "field": "heads"},
    }
    assert error_json("crashed", "no")["error"]["field"] is None
