"""`tutor view`: tensors of every kind of file, and files that could run code refused with the reason."""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from engine.probe import tensors
from tests.unit.cli import Call, call
from tests.unit.looking import LookingClient, looking

__all__ = ["call", "looking"]

MATRIX = np.array([[1.0, -2.0, 0.0], [math.nan, 4.0, math.inf]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "matrix.npy", MATRIX)
    np.save(tmp_path / "big-endian.npy", MATRIX.astype(">f4"))
    np.savez_compressed(tmp_path / "several.npz", first=np.arange(5), second=np.ones((2, 3, 4), np.float16))
    torch.save({"model": {"weight": torch.ones(2, 2), "parts": [torch.zeros(3)]}, "step": 7}, tmp_path / "state.pt")
    torch.save(torch.nn.Linear(2, 2), tmp_path / "whole.pt")
    save_file({"emb": torch.ones(4, 2).bfloat16(), "ids": torch.arange(3)}, tmp_path / "model.safetensors")
    return tmp_path


def panels(result: Any, kind: str) -> list[Any]:
    return [panel for panel in result["panels"] if panel["kind"] == kind]


def test_one_matrix_is_shown_with_statistics_of_its_finite_numbers(
    call: Call, looking: list[LookingClient], folder: Path
) -> None:
    done = call("view", str(folder / "matrix.npy"), "--json").json
    assert done["values"] == {
        "shape": [2.0, 3.0],
        "numbers": 6,
        "bytes": 48,
        "least": -2.0,
        "largest": 4.0,
        "mean": 0.75,
        "std": pytest.approx(np.std([1, -2, 0, 4])),
        "norm": pytest.approx(math.sqrt(21)),
        "zeros": 1,
        "not_finite": 2,
        "name": "matrix",
    }
    (picture,) = panels(done, "heatmap")
    assert picture["values"] == [[1.0, -2.0, 0.0], ["nan", 4.0, "inf"]]
    assert (picture["minimum"], picture["maximum"], picture["scale"]) == (-4.0, 4.0, "diverging")


def test_the_order_of_bytes_does_not_matter(call: Call, looking: list[LookingClient], folder: Path) -> None:
    done = call("view", str(folder / "big-endian.npy"), "--json").json
    assert panels(done, "heatmap")[0]["values"] == [[1.0, -2.0, 0.0], ["nan", 4.0, "inf"]]


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("several.npz", ["first", "second"]),
        ("state.pt", ["model.weight", "model.parts.0"]),
        ("model.safetensors", ["emb", "ids"]),
    ],
)
def test_several_tensors_are_listed_and_each_can_be_named(
    call: Call, looking: list[LookingClient], folder: Path, file: str, names: list[str]
) -> None:
    done = call("view", str(folder / file), "--json").json
    (listed,) = panels(done, "table")
    assert [row[0] for row in listed["rows"]] == names
    for name in names:
        shown = call("view", str(folder / file), "--name", name, "--json").json
        assert shown["values"]["name"] == name


def test_of_more_dimensions_the_first_matrix_is_shown(call: Call, looking: list[LookingClient], folder: Path) -> None:
    done = call("view", str(folder / "several.npz"), "--name", "second", "--plain")
    assert "The numbers of second[0]" in done.out
    assert "The first of 2 matrices is shown." in done.out
    assert "2 × 3 × 4" in done.out
    assert "\x1b" not in done.out


def test_a_large_matrix_is_pooled_by_the_mean_and_says_so(
    call: Call, looking: list[LookingClient], tmp_path: Path
) -> None:
    large = np.arange(300 * 1000, dtype=np.float64).reshape(300, 1000)
    np.save(tmp_path / "large.npy", large)
    (picture,) = panels(call("view", str(tmp_path / "large.npy"), "--json").json, "heatmap")
    assert picture["title"] == "large, every cell the mean of 2 × 4"
    assert len(picture["values"]) == 150
    assert picture["values"][0][0] == large[:2, :4].mean()
    assert picture["values"][-1][-1] == large[-2:, -4:].mean()


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),
        np.zeros(0),
        np.zeros((0, 3)),
        np.array([True, False]),
        np.array([1 + 2j, 3j]),
        np.array([[7, 7], [7, 7]], np.uint16),
        np.array([2**63], np.uint64),
        np.full((3, 3), math.nan),
        np.arange(10_000.0),
        np.array([[1e308, -1e308]]),
        np.zeros((1, 1, 1, 1), np.float16),
    ],
    ids=str,
)
def test_any_array_is_shown_in_both_ways(
    call: Call, looking: list[LookingClient], tmp_path: Path, array: np.ndarray[Any, Any]
) -> None:
    np.save(tmp_path / "any.npy", array)
    for way in ("--plain", "--json"):
        done = call("view", str(tmp_path / "any.npy"), way)
        assert (done.code, done.err) == (0, "")
    assert call("view", str(tmp_path / "any.npy"), "--json").json["values"]["numbers"] == array.size


def test_statistics_agree_with_numpy(call: Call, looking: list[LookingClient], tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(40, 30))
    np.save(tmp_path / "a.npy", array)
    values = call("view", str(tmp_path / "a.npy"), "--json").json["values"]
    wanted = {"mean": array.mean(), "std": array.std(), "norm": np.linalg.norm(array), "least": array.min()}
    assert {name: values[name] for name in wanted} == pytest.approx(wanted, rel=1e-12)
    (bars,) = panels(call("view", str(tmp_path / "a.npy"), "--json").json, "bars")
    assert bars["values"] == np.histogram(array, 12)[0].tolist()


class Trap:
    """What a pickle can do: its loading writes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_no_file_runs_code(call: Call, looking: list[LookingClient], tmp_path: Path) -> None:
    target = tmp_path / "was-here"
    np.save(tmp_path / "trap.npy", np.array([Trap(target)], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "trap.npz", x=np.array([Trap(target)], dtype=object))
    torch.save({"w": Trap(target)}, tmp_path / "trap.pt")
    (tmp_path / "old.pt").write_bytes(pickle.dumps(Trap(target)))
    (tmp_path / "trap.pkl").write_bytes(pickle.dumps(Trap(target)))
    for name in ("trap.npy", "trap.npz", "trap.pt", "old.pt", "trap.pkl"):
        done = call("view", str(tmp_path / name))
        assert done.code == 2
        assert "run" in done.err
        assert "code" in done.err
        assert done.err.count("\n") == 1
        assert not target.exists()


MISTAKES = [
    ([], "file", "Name the file to show"),
    (["nothing.npy"], "file", "The file nothing.npy cannot be read: it does not exist."),
    (["x.txt"], "file", "x.txt is none of: .npy, .npz, .pt, .pth, .bin, .safetensors."),
    (["{folder}/whole.pt"], "file", "whole.pt holds objects besides tensors (torch.nn.modules.linear.Linear), and"),
    (["{folder}/several.npz", "--name", "sekond"], "name", "There is no sekond in several.npz; did you mean second?"),
    (["{folder}/several.npz", "--name", "zzz"], "name", "There is no tensor zzz in several.npz; without a name all"),
    (["{folder}/empty.npy"], "file", "empty.npy is empty."),
    (["{folder}/noise.npy"], "file", "noise.npy is damaged, or no .npy file"),
    (["{folder}/noise.npz"], "file", "noise.npz is damaged, or no .npz file"),
    (["{folder}/noise.pt"], "file", "noise.pt"),
    (["{folder}/noise.safetensors"], "file", "noise.safetensors is damaged, or no .safetensors file"),
    (["{folder}/cut.npy"], "file", "cut.npy is damaged, or no .npy file"),
    (["{folder}/words.npy"], "file", "words.npy holds <U3, which are no numbers."),
    (["{folder}/none.pt"], "file", "none.pt holds no tensor."),
]


@pytest.mark.parametrize(("words", "field", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    call: Call, looking: list[LookingClient], folder: Path, words: list[str], field: str, sentence: str
) -> None:
    (folder / "empty.npy").touch()
    for kind in ("npy", "npz", "pt", "safetensors"):
        (folder / f"noise.{kind}").write_bytes(b"nothing of the kind, but long enough to look at")
    (folder / "cut.npy").write_bytes((folder / "matrix.npy").read_bytes()[:-9])
    np.save(folder / "words.npy", np.array(["abc"]))
    torch.save({"step": 3}, folder / "none.pt")
    filled = [word.format(folder=folder) for word in words]
    done = call("view", *filled)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert call("view", *filled, "--json").json["error"]["field"] == field


def test_a_file_that_unpacks_to_gigabytes_is_refused_unread(
    call: Call, looking: list[LookingClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "MOST_BYTES", 1 << 20)
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(1 << 18))
    done = call("view", str(tmp_path / "bomb.npz"))
    assert "bomb.npz unpacks to 0.0 GiB; at most 0.000976562 are taken." in done.err
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(1 << 21))
    (tmp_path / "bomb.pt").write_bytes(buffer.getvalue())
    assert "bomb.pt unpacks to" in call("view", str(tmp_path / "bomb.pt")).err


def test_a_file_too_large_for_a_message_is_told_before_an_engine_starts(
    call: Call, looking: list[LookingClient], tmp_path: Path
) -> None:
    with (tmp_path / "huge.npy").open("wb") as file:
        file.truncate(1 << 30)
    done = call("view", str(tmp_path / "huge.npy"))
    assert "is larger than 67,043,328 bytes, the most that is taken." in done.err
    assert looking == []


def test_chinese_speaks_chinese(call: Call, looking: list[LookingClient], folder: Path) -> None:
    out = call("view", str(folder / "several.npz"), "--lang", "zh", "--plain").out
    assert "several.npz 里的 2 个张量" in out
