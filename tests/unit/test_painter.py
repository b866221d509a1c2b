"""The painter shows exactly the screen that Textual would, with fewer bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual import _compositor as compositor
from textual.geometry import Region
from textual.strip import Strip

from tutor import painter as painting
from tutor.painter import Painter, cells_of
from tutor.pen import PLAIN, blank, change, pen_of

WIDTH, HEIGHT = 40, 8
TEXTS = ["a", "word ", "   ", "注意力", "中 文", "█▀▄", "⠁⡇", "…→", "🐱", "🏳️‍🌈", "é", "e\u0301", "1️⃣", "x" * 9, " │ "]
STYLES = [
    Style(),
    Style(color="rgb(1,2,3)"),
    Style(color="rgb(1,2,3)", bgcolor="rgb(9,9,9)"),
    Style(bgcolor="rgb(200,10,30)"),
    Style(bold=True, color="rgb(250,250,0)"),
    Style(underline=True),
    Style(reverse=True, bgcolor="rgb(9,9,9)"),
    Style(dim=True, italic=True, bgcolor="rgb(9,9,9)"),
    Style(strike=True, color="rgb(1,2,3)"),
]
CONSOLE = Console(force_terminal=True, color_system="truecolor", width=WIDTH, height=HEIGHT)

Row = list[tuple[int, Strip]]
Look = tuple[object, ...]


def _look(cell: pyte.screens.Char) -> Look:
    """A cell as it looks: of a blank, only what is seen without ink."""
    ground = (cell.data, cell.bg, cell.reverse, cell.underscore, cell.strikethrough)
    if cell.data == " " and not (cell.reverse or cell.underscore or cell.strikethrough):
        return ground
    return (*ground, cell.fg, cell.bold, cell.italics)


class Terminal:
    """What a terminal shows after some bytes."""

    def __init__(self) -> None:
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)

    def feed(self, text: str) -> None:
        self.stream.feed(text)

    def looks(self) -> list[list[Look]]:
        """Every cell as it looks."""
        rows: list[list[Look]] = []
        for y in range(HEIGHT):
            cells = (self.screen.buffer[y][x] for x in range(WIDTH))
            rows.append([_look(cell) for cell in cells])
        return rows


def random_strip(generator: random.Random, width: int, plain: bool) -> Strip:
    """A strip of this width; `plain` leaves out what terminals show in differing widths."""
    texts = [text for text in TEXTS if not plain or cells_of(Strip([Segment(text)]), CONSOLE._color_system) is not None]  # type: ignore[arg-type]
    segments = [Segment(generator.choice(texts), generator.choice(STYLES)) for _ in range(width)]
    return Strip(segments).adjust_cell_length(width, STYLES[0])


def random_frame(generator: random.Random, plain: bool) -> list[Row]:
    frame = []
    for _ in range(HEIGHT):
        cut = generator.randrange(4, WIDTH - 4)
        frame.append([
            (0, random_strip(generator, cut, plain)),
            (cut, random_strip(generator, WIDTH - cut, plain)),
        ])  # fmt: skip
    return frame


def changed(generator: random.Random, frame: list[Row], plain: bool) -> list[Row]:
    """A frame that differs in a few places."""
    return [
        [(x, random_strip(generator, s.cell_length, plain) if generator.random() < 0.3 else s) for x, s in row]
        for row in frame
    ]


def layout(frame: list[Row]) -> compositor.LayoutUpdate:
    return compositor.LayoutUpdate([[strip for _, strip in row] for row in frame], Region(0, 0, WIDTH, HEIGHT))


def chops(frame: list[Row], generator: random.Random) -> compositor.ChopsUpdate:
    """An update of random spans, at least one a line, that never cut a character of the old frame."""
    spans = [(y, *sorted(generator.sample(range(WIDTH + 1), 2))) for y in range(HEIGHT)]
    ends = [[x + strip.cell_length for x, strip in row] for row in frame]
    return compositor.ChopsUpdate([dict(row) for row in frame], spans, ends)  # type: ignore[arg-type]


def stock(update: compositor.LayoutUpdate | compositor.ChopsUpdate) -> str:
    originals = {owner: original for owner, name, original in painting._originals if name == "render_segments"}
    original: Callable[..., str] = originals.get(type(update), type(update).render_segments)
    return original(update, CONSOLE)


def pieces(update: compositor.LayoutUpdate | compositor.ChopsUpdate) -> Iterator[painting.Piece]:
    if isinstance(update, compositor.LayoutUpdate):
        return painting._layout_pieces(update)
    return painting._chop_pieces(update)


@pytest.mark.parametrize("seed", range(30))
def test_random_frames_look_the_same_cell_by_cell(seed: int) -> None:
    generator = random.Random(seed)
    plain = seed % 3 > 0
    ours, theirs, painter = Terminal(), Terminal(), Painter()
    frame = random_frame(generator, plain)
    for step in range(12):
        if step % 3 == 2:
            frame = changed(generator, frame, plain)
            update: compositor.LayoutUpdate | compositor.ChopsUpdate = chops(frame, generator)
            frame = [list(row) for row in frame]
        else:
            update = layout(frame)
        theirs.feed(stock(update))
        flowing = isinstance(update, compositor.LayoutUpdate)
        ours.feed(painter.paint(pieces(update), CONSOLE, flowing))
        assert ours.looks() == theirs.looks()
        frame = changed(generator, frame, plain)


def test_nothing_is_written_when_nothing_changes() -> None:
    frame = random_frame(random.Random(1), plain=True)
    painter = Painter()
    assert painter.paint(pieces(layout(frame)), CONSOLE)
    assert painter.paint(pieces(layout(frame)), CONSOLE) == ""


def test_after_forgetting_everything_is_written_again() -> None:
    frame = random_frame(random.Random(2), plain=True)
    painter = Painter()
    first = painter.paint(pieces(layout(frame)), CONSOLE)
    painter.forget()
    assert painter.paint(pieces(layout(frame)), CONSOLE) == first


def test_one_changed_cell_costs_a_move_a_colour_and_a_character() -> None:
    old = Style(bgcolor="rgb(1,2,3)")
    strip = Strip([Segment(" " * WIDTH, old)])
    other = Strip([Segment(" " * 5, old), Segment("◆", old + Style(color="rgb(9,9,9)")), Segment(" " * 34, old)])
    painter = Painter()
    painter.paint([(3, 0, strip)], CONSOLE)
    assert painter.paint([(3, 0, other)], CONSOLE) == "\x1b[4;6H\x1b[38;2;9;9;9;48;2;1;2;3m◆\x1b[m"


def test_replacing_half_of_a_wide_character_rewrites_all_of_it() -> None:
    painter, ours = Painter(), Terminal()
    for text in ("ab中c", "a中xc", "a注xc", "abcdc"):
        ours.feed(painter.paint([(0, 0, Strip([Segment(text)]))], CONSOLE))
        assert ours.screen.display[0].rstrip() == text


def test_blanks_of_another_ink_are_the_same_blank() -> None:
    first, second = pen_of("38;2;1;1;1;48;5;4"), pen_of("1;38;2;2;2;2;48;5;4")
    assert first is not second
    assert blank(first) is blank(second)
    underlined = pen_of("4;38;2;1;1;1")
    assert blank(underlined) is underlined


@pytest.mark.parametrize(
    ("now", "wanted", "code"),
    [
        ("", "31", "\x1b[31m"),
        ("31;44", "31;45", "\x1b[45m"),
        ("31;44", "44", "\x1b[39m"),
        ("31;44", "", "\x1b[m"),
        ("1;31", "31", "\x1b[0;31m"),
        ("31", "1;31", "\x1b[1m"),
        ("38;5;9;48;2;1;2;3", "38;5;9;48;2;1;2;4", "\x1b[48;2;1;2;4m"),
        ("97;107", "90;100", "\x1b[90;100m"),
    ],
)
def test_a_change_of_pen_names_only_what_differs(now: str, wanted: str, code: str) -> None:
    assert change(pen_of(now), pen_of(wanted)) == (code, pen_of(wanted))


def test_links_and_control_codes_are_left_to_textual() -> None:
    system = CONSOLE._color_system
    assert system is not None
    assert cells_of(Strip([Segment("x", Style(link="https://example.org"))]), system) is None
    assert cells_of(Strip([Segment("a\x1b[2J")]), system) is None
    assert cells_of(Strip([Segment("中x")]), system) == (["中", "", "x"], [PLAIN] * 3)
