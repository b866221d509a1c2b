import io
import json
import shlex
from typing import Any

import pytest

from engine.contract.declarations import Cost
from engine.contract.labs import declaration, names
from engine.contract.message import say
from engine.contract.parameters import build, kinds, to_plain
from engine.contract.protocol import Failed
from tests.unit.cli import Call, InProcessClient, call, clients
from tutor.cli.run import announce, command_of, lab_name

__all__ = ["call", "clients"]


def heatmaps(result: Any) -> list[Any]:
    return [panel for panel in result["panels"] if panel["kind"] == "heatmap"]


@pytest.mark.parametrize(("sentence", "tokens"), [("The cat sat on the mat", 6), ("我 喜欢 在 咖啡馆 里 看 书", 7)])
def test_heads_prints_one_map_a_head_whose_rows_sum_to_one(
    call: Call, clients: list[InProcessClient], sentence: str, tokens: int
) -> None:
    done = call("run", "heads", "--sentence", sentence, "--heads", "4", "--json")
    maps = heatmaps(done.json)
    assert (done.code, done.err, len(maps)) == (0, "", 4)
    for panel in maps:
        assert [len(row) for row in panel["values"]] == [tokens] * tokens
        assert [sum(row) for row in panel["values"]] == pytest.approx([1] * tokens, abs=1e-12)
    assert {invariant["holds"] for invariant in done.json["invariants"]} == {True}


def test_the_json_of_a_run_has_its_parameters_in_full(call: Call, clients: list[InProcessClient]) -> None:
    done = call("run", "sqrt-dk", "--d-k", "16", "--trials", "100", "--seed", "7", "--json").json
    assert done["schema"] == 1
    assert done["lab"] == "sqrt-dk"
    assert done["params"] == {"d_k": 16, "keys": 16, "trials": 100, "scale": ["none", "sqrt"]}
    assert (done["seed"], done["device"]) == (7, "cpu")
    assert done["values"]["variance"] == pytest.approx(16, rel=0.3)


@pytest.mark.parametrize("words", [["--scale", "off"], ["--no-scale"], ["--scale=off"], ["--scale", "否"]])
def test_a_switch_reaches_the_lab(call: Call, clients: list[InProcessClient], words: list[str]) -> None:
    assert call("run", "sdpa", *words, "--json").json["params"]["scale"] is False
    assert clients[0].asked[0][1]["scale"] is False
    assert clients[0].closed


def test_matrices_are_written_in_rows(call: Call, clients: list[InProcessClient]) -> None:
    done = call("run", "sdpa", "--queries", "-1 0", "--keys=1 0; 0 1", "--values", "2 0; 0 2", "--json")
    assert done.json["params"]["queries"] == [[-1.0, 0.0]]
    assert done.json["values"]["scores"] == pytest.approx([-(2**-0.5), 0])


def test_a_value_comes_from_a_file_or_stdin(
    call: Call, clients: list[InProcessClient], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "my.txt").write_text("猫 坐 在\n垫子 上\n", "utf-8")
    from_file = call("run", "heads", "--sentence", f"@{tmp_path}/my.txt", "--json").json
    assert from_file["params"]["sentence"] == "猫 坐 在 垫子 上"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a b\n")))
    assert call("run", "heads", "--sentence", "-", "--json").json["params"]["sentence"] == "a b"


@pytest.mark.parametrize(("language", "first"), [("zh", "猫"), ("en", "The")])
def test_the_language_chooses_the_default_sentence(
    call: Call, clients: list[InProcessClient], language: str, first: str
) -> None:
    assert call("run", "heads", "--lang", language, "--json").json["params"]["sentence"].startswith(first)


def test_a_long_run_or_a_large_one_is_announced_to_a_person(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(Cost(38.2, 3 << 29), "en")  # a script reads stderr
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    announce(Cost(1.9, 1 << 30), "en")
    assert capsys.readouterr().err == ""
    announce(Cost(38.2, 3 << 29), "en")
    announce(Cost(0.1, 2 << 30), "zh")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "tutor: This takes about 38 s and 1.5 GiB of memory on one core.",
        "tutor: 在一个核上大约需要 0 秒和 2.0 GiB 内存。",
    ]


REFUSALS = [
    (["heads", "--heads", "3", "--embed-size", "256"], "heads", "invalid", "1, 2, 4, 8"),
    (["heads", "--heads", "9"], "heads", "invalid", "1, 2, 3, 4, 5, 6, 7, 8"),
    (["heads", "--sentence", "hello"], "sentence", "invalid", "at least 2"),
    (["heads", "--sentence", " ".join("a" * 25)], "sentence", "invalid", "at most 24"),
    (["heads", "--sentence", ""], "sentence", "invalid", "empty"),
    (["heads", "--sentence", "   "], "sentence", "invalid", "empty"),
    (["heads", "--sentence", "a\x1b[2J b"], "sentence", "invalid", "U+001B"),
    (["heads", "--sentence", "a \udcff b"], "sentence", "invalid", "UTF-8"),
    (["heads", "--sentence", "@/no/such"], "sentence", "invalid", "/no/such"),
    (["heads", "--position", "maybe"], "position", "invalid", "on or off"),
    (["heads", "--seed", "x"], "seed", "invalid", "whole number"),
    (["heads", "--seed", "10000"], "seed", "invalid", "9999"),
    (["heads", "--head", "3"], None, "usage", "--heads"),
    (["head"], "lab", "unknown-lab", "heads"),
    (["\udcff"], "lab", "unknown-lab", "tutor labs"),
    ([], "lab", "usage", "sqrt-dk"),
    (["heads", "--gpu-memory", "frog"], "gpu_memory", "usage", "frog"),
    (["heads", "--out", "picture.pdf"], "out", "usage", ".svg"),
    (["heads", "--out", "/no/such/file.csv"], "out", "usage", "/no/such"),
]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("words", "field", "code", "part"), REFUSALS)
def test_bad_input_is_refused_in_one_sentence_before_an_engine_starts(
    call: Call,
    clients: list[InProcessClient],
    words: list[str],
    field: str | None,
    code: str,
    part: str,
    language: str,
) -> None:
    plain = call("run", *words, "--lang", language)
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.startswith("tutor: ")
    assert plain.err.count("\n") == 1
    assert plain.err.strip().isprintable()
    error = call("run", *words, "--lang", language, "--json")
    assert (error.code, error.err) == (2, "")
    assert error.json["schema"] == 1
    assert (error.json["error"]["code"], error.json["error"]["field"]) == (code, field)
    assert plain.err == f"tutor: {error.json['error']['message']}\n"
    if language == "en":
        assert part in plain.err
    else:
        assert any("\u4e00" <= char <= "\u9fff" for char in plain.err)
    assert [client.asked for client in clients if client.asked] == []


def test_an_invariant_that_does_not_hold_is_the_answer_no(
    call: Call, clients: list[InProcessClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    import msgspec

    import engine.labs
    from engine.contract.report import Invariant, Report

    real = engine.labs.run_events

    def with_a_fault(*positional: Any, **named: Any) -> Any:
        for event in real(*positional, **named):
            if isinstance(event, Report):
                wrong = Invariant(say("every row of weights sums to 1"), False, say("yes"))
                event = msgspec.structs.replace(event, invariants=(wrong,))
            yield event

    monkeypatch.setattr("engine.labs.run_events", with_a_fault)
    done = call("run", "shuffle")
    assert done.code == 1
    assert "✗ every row of weights sums to 1" in done.out


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("invalid", 2), ("no-device", 2), ("crashed", 69), ("out-of-memory", 69), ("error", 69)],
)
def test_a_run_that_fails_is_told_with_its_code(
    call: Call, clients: list[InProcessClient], monkeypatch: pytest.MonkeyPatch, code: Any, exit_code: int
) -> None:
    failed = Failed(1, code, say("The machine has too little free memory for this run."), "")
    monkeypatch.setattr(InProcessClient, "events", lambda self, number: iter([failed]))
    done = call("run", "heads", "--json")
    assert done.code == exit_code
    assert done.json["error"] == {
        "code": code,
        "message": "The machine has too little free memory for this run.",
        "field": None,
    }
    assert clients[0].closed


def test_ctrl_c_ends_the_run_and_says_so_in_one_line(
    call: Call, clients: list[InProcessClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: InProcessClient, number: int) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(InProcessClient, "events", interrupted)
    done = call("run", "heads")
    assert (done.code, done.out, done.err) == (130, "", "tutor: Interrupted.\n")
    assert clients[0].closed


@pytest.mark.parametrize(
    "lab",
    [pytest.param(lab, marks=[pytest.mark.extreme] if declaration(lab).trains else []) for lab in names()],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_plain_text_has_the_figures_and_checks_and_no_escape_codes(
    call: Call, clients: list[InProcessClient], lab: str, language: str
) -> None:
    done = call("run", lab, "--plain", "--lang", language)
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert done.out.startswith(lab)
    assert "✓ " in done.out
    assert "✗" not in done.out


@pytest.mark.parametrize("lab", names())
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_help_of_a_lab_tells_every_parameter(call: Call, lab: str, language: str) -> None:
    done = call("run", lab, "--help", "--lang", language)
    assert done.code == 0
    for field in kinds(declaration(lab).parameters):
        assert "--" + field.replace("_", "-") in done.out


@pytest.mark.parametrize(
    ("lab", "given", "command"),
    [
        ("heads", {}, "tutor run heads"),
        ("heads", {"heads": 2, "position": True}, "tutor run heads --heads 2 --position on"),
        ("sqrt-dk", {"scale": ("none", "d_k"), "d_k": 4}, "tutor run sqrt-dk --d-k 4 --scale none,d_k"),
        ("shuffle", {"text": "it's me"}, """tutor run shuffle --text 'it'"'"'s me'"""),
        ("shuffle", {"text": "@home a b"}, "tutor run shuffle --text '@@home a b'"),
        ("sdpa", {"keys": ((1.0, -0.5), (0.0, 1.0), (1.0, 1.0))}, "tutor run sdpa --keys '1 -0.5; 0 1; 1 1'"),
    ],
)
def test_a_report_names_the_command_that_makes_it(
    call: Call, clients: list[InProcessClient], lab: str, given: dict[str, Any], command: str
) -> None:
    declared = declaration(lab)
    params = to_plain(build(declared.parameters, given, "en"))
    assert command_of(declared, params, "en") == command
    assert call(*shlex.split(command)[1:], "--json").json["params"] == json.loads(json.dumps(params))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["heads"], "heads"),
        (["--heads", "3", "heads"], "heads"),
        (["--json", "heads"], "heads"),
        (["--heads=3", "heads"], "heads"),
        (["--sentence", "a b", "--lang", "zh", "shuffle"], "shuffle"),
        (["--no-scale", "sdpa"], "sdpa"),
        (["head"], "head"),
        (["--json"], ""),
        ([], ""),
    ],
)
def test_the_lab_may_stand_anywhere(words: list[str], name: str) -> None:
    assert lab_name(words) == name
