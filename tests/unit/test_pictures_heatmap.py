"""Heatmaps as lines: exact sizes, aligned labels, one grid of levels behind every way of drawing."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.message import say
from engine.contract.report import Detail, Heatmap
from tests.unit.pictures_samples import (
    CHINESE,
    ENGLISH,
    TERMINALS,
    attention,
    chinese,
    english,
    heatmap,
    matrix,
)
from tutor.pictures.grid import levels
from tutor.pictures.heatmap import Picture, colour_lines, draw_heatmap, half_block_lines
from tutor.pictures.heatmap_text import cursor_line, number_table
from tutor.pictures.ink import Line, plain, width_of
from tutor.pictures.palette import ABSENT, Palette, palette
from tutor.terminal import Depth, Terminal

NOTHING = Terminal(Depth.NONE)


def draw(panel: Heatmap, width: int, height: int | None = None, terminal: Terminal = NOTHING) -> Picture:
    return draw_heatmap(panel, width, height, english, terminal)


def levels_in(lines: list[Line], colours: Palette, rows: int, columns: int) -> list[list[int]]:
    """Read the levels back from half blocks."""
    known = {colour: level for level, colour in enumerate(colours.colours or ())}
    read = [[0] * columns for _ in range(rows)]
    for line_number, line in enumerate(lines):
        looks = [(char, span.look) for span in line for char in span.text]
        for column, (char, look) in enumerate(looks):
            above = look.background if char == " " else look.foreground
            for row, colour in ((2 * line_number, above), (2 * line_number + 1, look.background)):
                if row < rows:
                    assert colour is not None
                    read[row][column] = known[colour]
    return read


@pytest.mark.parametrize("depth", [Depth.TRUE, Depth.ANSI256])
@pytest.mark.parametrize("scale", ["sequential", "diverging"])
def test_plotext_and_half_blocks_draw_the_same_level_in_every_cell(depth: Depth, scale: str) -> None:
    generator = random.Random(1)
    rows = [[generator.uniform(-1.2, 1.2) for _ in range(17)] for _ in range(13)]
    panel = heatmap(rows, scale=scale, ends=(-1.0, 1.0))  # type: ignore[arg-type]
    colours = palette(panel.scale, Terminal(depth))
    grid = levels(panel, colours.count)
    by_colour = {colours.look(level): level for level in range(colours.count)}
    from_plotext = [[by_colour[span.look] for span in line] for line in colour_lines(grid, colours, 2)]
    from_halves = levels_in(half_block_lines(grid, colours), colours, 13, 17)
    assert from_plotext == from_halves == grid


def test_the_last_row_of_an_odd_number_has_nothing_below_it() -> None:
    colours = palette("sequential", Terminal())
    (span,) = half_block_lines([[3, 3]], colours)[0]
    assert span.text == "▀▀"
    assert span.look.background is None
    assert colours.colour(ABSENT) is None


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("labels", [ENGLISH, CHINESE])
@pytest.mark.parametrize("width", [36, 40, 56, 80, 120])
def test_a_sentence_keeps_to_its_width_and_every_map_line_is_equally_long(
    terminal: Terminal, labels: list[str], width: int
) -> None:
    picture = draw(heatmap(attention(len(labels)), labels), width, terminal=terminal)
    assert max(map(width_of, picture.lines)) <= width
    layout = picture.layout
    body = picture.lines[layout.top : layout.top + layout.map_height]
    assert {width_of(line) for line in body} == {layout.left + layout.map_width}
    assert (layout.pool_rows, layout.pool_columns, layout.halves) == (1, 1, False)


@given(
    rows=st.integers(1, 90),
    columns=st.integers(1, 90),
    width=st.integers(30, 120),
    height=st.none() | st.integers(8, 60),
    terminal=st.sampled_from(TERMINALS),
)
@settings(max_examples=60, deadline=None)
def test_a_heatmap_of_any_size_fits_any_panel(
    rows: int, columns: int, width: int, height: int | None, terminal: Terminal
) -> None:
    picture = draw(heatmap(attention(rows, columns)), width, height, terminal)
    assert max(map(width_of, picture.lines)) <= width
    assert height is None or len(picture.lines) <= height
    assert len(picture.grid) * picture.layout.pool_rows >= rows
    assert len(picture.grid[0]) * picture.layout.pool_columns >= columns


def test_column_labels_stand_over_their_columns_in_chinese_and_with_emoji() -> None:
    picture = draw(heatmap(attention(12), CHINESE), 100)
    head = plain(picture.lines[2])
    for index, label in enumerate(CHINESE):
        before = head[: head.index(label)]
        start = sum(2 if ord(char) > 0x2000 else 1 for char in before)
        left = picture.layout.left + index * picture.layout.cell_width
        assert left <= start < left + picture.layout.cell_width


def test_labels_longer_than_the_cell_are_cut_and_never_touch_their_neighbour() -> None:
    words = ["attention", "is", "all", "you", "need"]
    picture = draw(heatmap(attention(5), words), 40)
    assert plain(picture.lines[2]).split() == ["atte…", "is", "all", "you", "need"][: picture.layout.columns]


def test_columns_too_narrow_for_their_labels_are_numbered_like_the_rows() -> None:
    words = [f"token{n}" for n in range(12)]
    picture = draw(heatmap(attention(12), words), 38)
    assert picture.layout.cell_width == 2
    assert plain(picture.lines[2]).split() == ["1", "2", "4", "6", "8", "10", "12"]
    assert plain(picture.lines[3]).startswith(" 1 token0")


def test_numbers_stand_in_cells_of_five_columns_and_more() -> None:
    rows = [[0.25, 0.75], [1.0, 0.0]]
    shown = draw_heatmap(heatmap(rows, ["a", "b"]), 40, 7, english, Terminal())
    assert plain(shown.lines[3]).split() == ["a", ".250", ".750"]
    assert plain(shown.lines[4]).split() == ["b", "1.000", ".000"]
    hidden = draw_heatmap(heatmap(rows, ["a", "b"]), 40, 7, english, Terminal(), numbers=False)
    assert plain(hidden.lines[3]).split() == ["a"]


def test_the_legend_names_the_ends_and_what_lies_beyond_them() -> None:
    inside = draw(heatmap([[0.0, 1.0]]), 40)
    assert plain(inside.lines[-1]) == "0 ▕░░░░▒▒▒▒▓▓▓▓████▏ 1"
    beyond = draw(heatmap([[-1.0, 2.0]]), 40)
    assert plain(beyond.lines[-1]) == "≤ 0 ▕░░░░▒▒▒▒▓▓▓▓████▏ ≥ 1"


def test_what_is_not_finite_is_marked_and_explained_in_both_languages() -> None:
    panel = heatmap([[math.nan, 0.5], [math.inf, 0.5]], ["a", "b"])
    assert plain(draw_heatmap(panel, 30, None, english, NOTHING, numbers=False).lines[-1]) == "· ! not finite"
    assert plain(draw_heatmap(panel, 30, None, chinese, NOTHING, numbers=False).lines[-1]) == "· ! 非有限值"


@pytest.mark.parametrize(("pool", "words"), [("max", "peak"), ("mean", "mean")])
def test_a_pooled_map_says_what_a_cell_stands_for(pool: str, words: str) -> None:
    panel = heatmap(attention(200))
    picture = draw_heatmap(panel, 60, 24, english, Terminal(), pool=pool)  # type: ignore[arg-type]
    size = picture.layout.pool_rows
    assert size > 1
    assert plain(picture.lines[-1]) == f"each cell: the {words} of {size} × {size} values"


def test_sixty_four_rows_become_half_blocks_where_colours_allow_and_pools_where_not() -> None:
    panel = heatmap(attention(64))
    assert draw(panel, 100, 45, Terminal()).layout.halves
    assert draw(panel, 100, 80, Terminal()).layout.halves is False
    poor = draw(panel, 100, 45, Terminal(Depth.ANSI16)).layout
    assert (poor.halves, poor.pool_rows) == (False, 2)


def test_a_panel_without_values_says_so() -> None:
    assert plain(draw(heatmap([]), 40).lines[1]) == "no values"


def test_the_cursor_line_shows_the_pair_the_details_and_the_exact_value() -> None:
    detail = Detail(say("q·k"), matrix([[1.0, 0.0], [0.5, 2.0]]))
    panel = heatmap([[0.40112, 0.5], [0.25, 0.75]], ["q₁", "q₂"], ["k₁", "k₂"], details=(detail,))
    picture = draw(panel, 60)
    line = cursor_line(panel, picture.layout, picture.values, 0, 0, 60, english)
    assert plain(line) == "q₁→k₁  q·k 1 → 0.4011"
    narrow = cursor_line(panel, picture.layout, picture.values, 1, 1, 16, english)
    assert plain(narrow) == "q₂→k₂  0.7500"


def test_the_cursor_line_of_a_pooled_cell_names_the_ends_of_its_block() -> None:
    panel = heatmap(attention(200))
    picture = draw_heatmap(panel, 60, 24, english, Terminal())
    size = picture.layout.pool_rows
    line = plain(cursor_line(panel, picture.layout, picture.values, 1, 0, 60, english))
    assert line.startswith(f"{size + 1}…{2 * size}→1…{size}  ")


def test_the_table_of_numbers_holds_every_value_at_every_width() -> None:
    rows = attention(12)
    panel = heatmap(rows, CHINESE)
    for width in (36, 60, 120):
        lines = number_table(panel, width)
        assert max(map(width_of, lines)) <= width
        words = " ".join(plain(line) for line in lines).split()
        for row in rows:
            for value in row:
                assert f"{value:.4f}" in words
