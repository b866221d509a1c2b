"""Curves, bars, tables, notes, and plain text."""

from __future__ import annotations

import math

import pytest

from engine.contract.message import say
from engine.contract.report import Bars, Column, Note, Panel, Table
from tests.unit.pictures_samples import CHINESE, TERMINALS, attention, chinese, curves, english, heatmap, vector
from tutor.pictures.axes import linear_axis, log_axis
from tutor.pictures.ink import plain, width_of
from tutor.pictures.numbers import decimals_that_fit, in_cell
from tutor.pictures.panel import panel_lines, plain_lines
from tutor.terminal import Depth, Terminal

STEPS = [float(step) for step in range(1, 101)]
FALLING = [0.9**step for step in STEPS]
FLAT = [0.5 for _ in STEPS]

BARS = Bars(
    "entropy", say("entropy"), ("猫", "sat", say("step"), "inf"), vector([0.5, -1.25, 3.0, math.inf]), say("loss")
)
TABLE = Table(
    "heads",
    say("heads"),
    (Column(say("step")), Column(say("loss"), ".4f"), Column(say("device"))),
    (
        (1, 1.23456, say("yes")),
        (12, math.nan, "中文说明也不能丢：这是一句很长的中文说明，必须折行而不是省略。"),
        (3, 1.0, None),
    ),
)
PANELS: list[Panel] = [
    heatmap(attention(12), CHINESE),
    curves({"RNN": FALLING, "长短期记忆": FLAT}, STEPS),
    BARS,
    TABLE,
    Note("note", say("{n} tokens", n=3)),
]


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("width", [36, 40, 56, 78, 120])
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: type(panel).__name__)
def test_every_panel_keeps_to_its_width_on_every_terminal(panel: Panel, width: int, terminal: Terminal) -> None:
    lines = panel_lines(panel, width, None, chinese, terminal)
    assert max(map(width_of, lines)) <= width
    if terminal.depth == Depth.NONE:
        assert all(span.look[:2] == (None, None) for line in lines for span in line)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: type(panel).__name__)
def test_plain_lines_bear_no_escape_codes_and_ascii_lines_only_ascii_pictures(panel: Panel) -> None:
    for unicode in (True, False):
        text = "\n".join(plain_lines(panel, 60, english, unicode))
        assert "\x1b" not in text
        if not unicode:
            assert not set("─│░▒▓█▀▏▕→↓·…⠁") & set(text)


def test_plain_heatmaps_of_a_sentence_end_with_their_numbers() -> None:
    rows = attention(12)
    text = "\n".join(plain_lines(heatmap(rows, CHINESE), 78, english))
    assert all(f"{value:.4f}" in text for row in rows for value in row)
    assert f"{attention(13)[0][0]:.4f}" not in "\n".join(plain_lines(heatmap(attention(13)), 78, english))


def test_curves_are_told_apart_without_colour() -> None:
    lines = [plain(line) for line in panel_lines(PANELS[1], 60, 20, chinese, Terminal(Depth.NONE))]
    assert len(lines) == 20
    assert lines[1] == "o RNN   + 长短期记忆"
    body = "\n".join(lines[3:-1])
    assert body.count("o") == body.count("+") == 6


def test_points_without_a_place_on_a_logarithmic_axis_leave_gaps_and_are_counted() -> None:
    values = [math.nan, math.inf, 0.0, -1.0, *FALLING[4:]]
    panel = curves({"norm": values}, STEPS, log_y=True)
    lines = [plain(line) for line in panel_lines(panel, 60, None, english, Terminal(Depth.NONE))]
    assert lines[-1] == "4 points are not finite or not positive and leave gaps"
    whole = panel_lines(curves({"norm": FALLING}, STEPS, log_y=True), 60, None, english, Terminal(Depth.NONE))
    assert not plain(whole[-1]).startswith("4 points")


@pytest.mark.parametrize("values", [[math.nan] * 100, [1.0, *[math.nan] * 99], [7.0] * 100, [1e300, *[-1e300] * 99]])
def test_curves_of_extreme_data_are_drawn_or_say_that_nothing_is_finite(values: list[float]) -> None:
    lines = panel_lines(curves({"y": values}, STEPS), 60, 16, english, Terminal())
    nothing = all(math.isnan(value) for value in values)
    assert (plain(lines[1]) == "no finite value to draw") is nothing
    assert any("⠁" <= char <= "⣿" for line in lines[2:] for char in plain(line)) is not nothing


def test_a_long_curve_keeps_its_peaks() -> None:
    values = [0.0] * 20_000
    values[777] = 1.0
    steps = [float(step) for step in range(20_000)]
    lines = [plain(line) for line in panel_lines(curves({"y": values}, steps), 60, 16, english, Terminal())]
    assert any("⠁" <= char <= "⣿" for char in lines[3])


def test_linear_ticks_are_round_and_inside_the_axis() -> None:
    axis = linear_axis(0.0, 1.02, 5)
    assert (axis.low, axis.high) == (0.0, 1.02)
    assert axis.labels == ["0.0", "0.5", "1.0"]
    assert linear_axis(3.0, 3.0, 5).low < 3.0 < linear_axis(3.0, 3.0, 5).high


def test_logarithmic_ticks_are_powers_of_ten() -> None:
    assert log_axis(-3.2, 1.1, 8).labels == ["0.001", "0.01", "0.1", "1", "10"]
    assert log_axis(-300.0, 0.0, 4).labels == ["1e-228", "1e-152", "1e-76", "1"]
    narrow = log_axis(0.2, 0.3, 4)
    assert (narrow.low, narrow.high) == (0.0, 1.0)


def test_bars_are_as_long_as_their_values_and_grow_from_a_common_zero() -> None:
    lines = [plain(line) for line in panel_lines(BARS, 60, None, english, Terminal(Depth.NONE, unicode=False))]
    negative, positive = lines[3], lines[4]
    assert abs(positive.count("#") / negative.count("=") - 3.0 / 1.25) < 0.3
    assert negative.rindex("=") + 1 == positive.index("#")
    assert lines[5].split() == ["inf", "!", "inf"]


def test_table_numbers_are_right_aligned_and_chinese_text_is_never_dropped() -> None:
    for width in (36, 56, 100):
        lines = [plain(line) for line in panel_lines(TABLE, width, None, chinese, Terminal(Depth.NONE))]
        text = "".join(line.replace(" ", "") for line in lines)
        assert "…" not in text
        ends = {line.index(number) + len(number) for line in lines for number in ("1.2346", "NaN") if number in line}
        assert len(ends) == 1
        remark = "中文说明也不能丢：这是一句很长的中文说明，必须折行而不是省略。"
        assert set(remark) <= set(text)
        assert "是" in text


def test_numbers_of_a_wide_table_are_never_cut() -> None:
    columns = tuple(Column(say("{n} tokens", n=n), ".4f") for n in range(12))
    rows = tuple(tuple(n * m / 7 for n in range(12)) for m in range(1, 4))
    lines = [plain(line) for line in panel_lines(Table("t", say("loss"), columns, rows), 56, None, english, Terminal())]
    words = " ".join(lines).split()
    assert all(f"{value:.4f}" in words for row in rows for value in row)


def test_a_table_without_rows_says_so() -> None:
    empty = Table("t", say("loss"), (Column(say("step")),), ())
    assert [plain(line) for line in panel_lines(empty, 20, None, english, Terminal())][1] == "no rows"


def test_numbers_in_cells_share_their_decimals() -> None:
    assert decimals_that_fit([-2.25, 0.4], 5) == 2
    assert [in_cell(value, 2, 5) for value in (-2.249, 0.482, 10.0)] == ["-2.25", "  .48", "10.00"]
    assert decimals_that_fit([0.0, 1.0], 4) == 3
    assert [in_cell(value, 3, 4) for value in (0.4011, 1.0, 0.9999)] == [".401", "1.00", "1.00"]
    assert decimals_that_fit([-0.5, 0.5], 3) is None
    assert decimals_that_fit([0.0, 1234.0], 4) == 0
    assert decimals_that_fit([0.0, 12345.0], 4) is None
