"""The engine from Python: `labs.run` returns the report, as values and as HTML for a notebook."""

from __future__ import annotations

import base64
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import pytest

from engine import labs
from engine.contract import labs as declared
from engine.contract.html import report_html
from engine.contract.json import report_json
from engine.contract.labs import UnknownLab
from engine.contract.message import say
from engine.contract.parameters import InvalidParameters
from engine.contract.report import Array, Bars, Cell, Column, Curves, Heatmap, Invariant, Note, Report, Series, Table
from tests.engine.reports import number

NAN = math.nan


def floats(*numbers: float, shape: tuple[int, ...] = ()) -> Array:
    import struct

    return Array("float64", shape or (len(numbers),), struct.pack(f"{len(numbers)}d", *numbers))


def parsed(report: Report) -> ElementTree.Element:
    return ElementTree.fromstring(report._repr_html_())


def texts(element: ElementTree.Element) -> list[str]:
    return [text for node in element.iter() if (text := (node.text or "").strip())]


def map_of(*numbers: float, shape: tuple[int, int], low: float = 0.0, high: float = 1.0) -> Heatmap:
    axis = say("queries")
    return Heatmap("m", say("Scores"), floats(*numbers, shape=shape), (), (), axis, axis, low, high)


def pixels(report: Report) -> list[list[int]]:
    """Return the palette indices of the one picture in a report."""
    data = base64.b64decode(re.findall('base64,([^"]+)', report._repr_html_())[0])
    width = int.from_bytes(data[16:20], "big")
    start = data.index(b"IDAT")
    packed = data[start + 4 : start + 4 + int.from_bytes(data[start - 4 : start], "big")]
    raw = zlib.decompress(packed)
    return [list(raw[at + 1 : at + 1 + width]) for at in range(0, len(raw), width + 1)]


def test_a_run_from_python_says_which_run_it_was() -> None:
    report = labs.run("jacobian", rho=1.5, T=20, seed=3)
    assert (report.lab, report.params["rho"], report.params["hidden"], report.seed) == ("jacobian", 1.5, 32, 3)
    assert number(report, "rho_power") == pytest.approx(1.5**20, rel=1e-12)


LABS = [
    pytest.param(name, marks=pytest.mark.extreme) if declared.declaration(name).trains else name
    for name in declared.names()
]


@pytest.mark.parametrize("name", LABS)
def test_every_lab_is_a_dictionary_and_well_formed_html_that_needs_nothing_else(name: str) -> None:
    report = labs.run(name)
    plain = report.to_dict()
    assert plain == report_json(name, report.params, report)  # what `tutor run --json` prints
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert (plain["schema"], plain["lab"]) == (1, name)
    page = report._repr_html_()
    shown = texts(ElementTree.fromstring(page))
    assert f"{name} · {declared.declaration(name).title}" in shown
    for panel in report.panels:
        assert str(panel.text if isinstance(panel, Note) else panel.title) in shown
    assert "<script" not in page
    assert set(re.findall(r"(?:href|src)=\"([a-z]+:)", page)) <= {"data:"}
    assert re.findall(r"https?://[^\"]+", page.replace("http://www.w3.org/2000/svg", "")) == []
    assert len(page) < 300_000


def test_what_a_learner_typed_is_escaped() -> None:
    page = labs.run("sdpa", mode="own-sentence", sentence='<script>alert(1)</script> & "you"')._repr_html_()
    assert "<script" not in page
    assert "&lt;scr" in page


def test_the_pixels_of_a_map_are_its_values_on_the_scale() -> None:
    levels = pixels(Report((map_of(0.0, 0.5, 1.0, NAN, math.inf, 0.25, shape=(2, 3)),), {}))
    assert levels == [[0, 127, 254], [255, 255, 64]]


def test_a_small_map_has_its_numbers_and_a_large_one_does_not() -> None:
    small = texts(parsed(Report((map_of(0.125, NAN, shape=(1, 2)),), {})))
    assert ".12" in small or "0.12" in small
    assert "NaN" in small
    many = [0.125] * 13 * 13
    assert "0.12" not in texts(parsed(Report((map_of(*many, shape=(13, 13)),), {})))


def test_an_empty_map_and_a_constant_one_are_shown() -> None:
    assert texts(parsed(Report((map_of(shape=(0, 3)),), {})))
    assert pixels(Report((map_of(0.3, 0.3, shape=(1, 2), low=0.3, high=0.3),), {})) == [[127, 127]]


def test_a_curve_is_broken_where_it_is_not_finite() -> None:
    x = floats(1, 2, 3, 4, 5, 6)
    name = say("loss")
    curve = Series(name, floats(1.0, 2.0, NAN, 3.0, math.inf, 0.5))
    panel = Curves("c", say("Loss"), x, (curve,), say("step"), name)
    kinds = [node.tag.rpartition("}")[2] for node in parsed(Report((panel,), {})).iter()]
    assert (kinds.count("polyline"), kinds.count("circle")) == (1, 2)


def test_a_logarithmic_axis_is_marked_at_powers_of_ten_and_skips_what_has_no_logarithm() -> None:
    panel = Curves(
        "c", say("Loss"), floats(1, 2, 3, 4), (Series(say("loss"), floats(1e-8, 0.0, 1e-2, 1.0)),), say("step"),
        say("loss"), log_y=True,
    )  # fmt: skip
    page = parsed(Report((panel,), {}))
    assert "1e-08" in texts(page)
    runs = [node.get("points", "").split() for node in page.iter() if node.tag.endswith("polyline")]
    assert [len(run) for run in runs] == [2]


def test_curves_without_a_finite_point_leave_only_their_title() -> None:
    panel = Curves("c", say("Loss"), floats(1), (Series(say("loss"), floats(NAN)),), say("step"), say("loss"))
    assert not [node for node in parsed(Report((panel,), {})).iter() if node.tag.endswith("svg")]


def test_bars_have_lengths_in_proportion_and_tables_their_formats() -> None:
    bars = Bars("b", say("Loss"), ("a", say("step"), "c"), floats(1.0, -2.0, NAN), say("loss"))
    lengths = [float(node.get("width", "")) for node in parsed(Report((bars,), {})).iter() if node.tag.endswith("rect")]
    assert lengths == [150.0, 300.0, 0.0]
    cells: tuple[Cell, ...] = ("<b>", 0.123456, 1234567, True, None)
    columns = tuple(Column(say("step"), spec) for spec in ("", ".3f", ",d", "", ""))
    shown = texts(parsed(Report((Table("t", say("Loss"), columns, (cells,)),), {})))
    assert {"<b>", "0.123", "1,234,567", "✓"} <= set(shown)


def test_texts_are_translated_by_whoever_shows_them() -> None:
    report = Report((Note("n", say("loss")),), {}, (Invariant(say("step"), None, say("loss")),))
    page = report_html(report, lambda message: f"«{message.id}»")
    assert "<p>«loss»</p>" in page
    assert "– «step» <small>(«loss»)</small>" in page


def test_refusals_are_one_sentence_of_the_right_kind() -> None:
    with pytest.raises(InvalidParameters, match="spectral radius ρ is 5, but it must lie between"):
        labs.run("jacobian", rho=5)
    with pytest.raises(InvalidParameters, match="There is no parameter “roh”"):
        labs.run("jacobian", roh=1)
    with pytest.raises(UnknownLab, match="did you mean “jacobian”"):
        labs.run("jacobi")


def test_importing_the_api_is_light() -> None:
    code = (
        "import sys; from engine import labs; from engine.contract import html;"
        "print([name for name in ('torch', 'numpy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
