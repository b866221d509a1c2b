import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from engine.contract.labs import declaration, names
from tests.unit.cli import Call, InProcessClient, call, clients
from tutor.text.width import cells

__all__ = ["call", "clients"]


def sections(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[]]
    for row in csv.reader(io.StringIO(text)):
        if row:
            found[-1].append(row)
        else:
            found.append([])
    return found


def test_csv_has_every_heatmap_and_table_as_a_section_with_all_digits(
    call: Call, clients: list[InProcessClient], tmp_path: Path
) -> None:
    file = tmp_path / "run.csv"
    result = call("run", "heads", "--sentence", "猫 a, b", "--json", "--out", str(file)).json
    found = {section[0][0]: section for section in sections(file.read_text("utf-8"))}
    for panel in result["panels"]:
        rows = found[panel["id"]]
        assert rows[0][1] == panel["title"]
        if panel["kind"] == "heatmap":
            assert rows[1][1:] == panel["column_labels"] == ["猫", "a,", "b"]
            assert [row[0] for row in rows[2:]] == panel["row_labels"]
            assert [[float(cell) for cell in row[1:]] for row in rows[2:]] == panel["values"]
        elif panel["kind"] == "table":
            assert len(rows) == 2 + len(panel["rows"])
    values = {row[0]: row[1:] for row in found["values"][1:]}
    assert set(values) == set(result["values"])


@pytest.mark.parametrize(
    "lab",
    [pytest.param(lab, marks=[pytest.mark.extreme] if declaration(lab).trains else []) for lab in names()],
)
@pytest.mark.parametrize("ending", ["json", "csv", "html", "svg"])
def test_every_lab_can_be_written_as_every_kind_of_file(
    call: Call, clients: list[InProcessClient], tmp_path: Path, lab: str, ending: str
) -> None:
    file = tmp_path / f"run.{ending.upper()}"
    done = call("run", lab, "--out", str(file), "--lang", "zh")
    assert (done.code, done.err) == (0, "")
    assert len(file.read_text("utf-8")) > 500
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [file.name]


def test_json_on_disk_is_the_json_on_stdout(call: Call, clients: list[InProcessClient], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    done = call("run", "shuffle", "--json", "--out", str(file))
    assert json.loads(file.read_text("utf-8")) == done.json


class Addresses(HTMLParser):
    """Collects what a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.title = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self._inside = tag
        self.loaded += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self._inside == "title":
            self.title += data


def test_html_needs_nothing_from_the_network(call: Call, clients: list[InProcessClient], tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    call("run", "heads", "--sentence", "<script>alert(1)</script> & b", "--out", str(file))
    page = file.read_text("utf-8")
    reader = Addresses()
    reader.feed(page)
    assert reader.loaded == []
    assert reader.title.startswith("heads")
    assert "<script>alert" not in page
    assert "url(" not in page
    assert "#fde725" in page.lower() or "background-color" in page


def test_svg_needs_nothing_from_the_network_and_gives_chinese_its_width(
    call: Call, clients: list[InProcessClient], tmp_path: Path
) -> None:
    file = tmp_path / "run.svg"
    call("run", "shuffle", "--text", "我 喜欢 咖啡馆", "--out", str(file), "--lang", "zh")
    picture = file.read_text("utf-8")
    assert re.findall(r"https?://\S+", picture.replace("http://www.w3.org/2000/svg", "")) == []
    texts = [text for text in ElementTree.fromstring(picture).iter() if "textLength" in text.attrib]
    assert any("咖啡馆" in (text.text or "") for text in texts)
    per_cell = {
        round(float(text.attrib["textLength"]) / cells(text.text or ""), 3) for text in texts if cells(text.text or "")
    }
    assert len(per_cell) == 1


def test_an_existing_file_survives_a_disk_that_cannot_be_written(
    call: Call, clients: list[InProcessClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.csv"
    file.write_text("mine", "utf-8")

    def full(self: Path, *words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = call("run", "shuffle", "--out", str(file))
    assert done.code == 74
    assert done.err == f"tutor: The file {file} cannot be written: No space left on device.\n"
    assert file.read_bytes() == b"mine"
