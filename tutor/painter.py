"""Send only the cells that changed.

Textual writes a dirty region again from the left edge of its widget, with the full style of every piece. Over a slow
line that is 10 to 40 times what changed. The painter remembers what every cell of the terminal shows, compares each
update with it, and writes the differences with the shortest cursor moves and colour changes. The screen is the same.

It stands on private parts of the pinned Textual: where they look different, `install` does nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from textual import _compositor as compositor
from textual.app import App
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip

from tutor.pen import PLAIN, Pen, blank, change, pen_of
from tutor.text.width import clusters

Piece = tuple[int, int, Strip]
"""Line, column, and what is written there."""
Cells = tuple[list[str], list[Pen]]
"""The character and the pen of every cell; the second cell of a wide character holds an empty string."""

_BRIDGE = 4  # unchanged cells that cost no more to write again than to jump over

_painters: WeakKeyDictionary[Console, Painter] = WeakKeyDictionary()


class Painter:
    """What a terminal shows, and how to change it into something else."""

    def __init__(self) -> None:
        self._characters: dict[int, list[str | None]] = {}
        self._pens: dict[int, list[Pen | None]] = {}
        self._out: list[str] = []
        self._pen = PLAIN
        self._at: tuple[int, int] | None = None

    def forget(self) -> None:
        """Take nothing for granted any more: the next update is written in full."""
        self._characters.clear()
        self._pens.clear()

    def paint(self, pieces: Iterable[Piece], console: Console, flowing: bool = False) -> str:
        """Return what to write to the terminal so that it shows the pieces.

        `flowing` says that Textual moves the cursor only at the beginning of a line, not before every piece.
        """
        self._out, self._pen, self._at = [], PLAIN, None
        colours = console._color_system or ColorSystem.TRUECOLOR
        for y, line in groupby(pieces, key=lambda piece: piece[0]):
            parts = [(x, strip, cells_of(strip, colours)) for _, x, strip in line if strip.cell_length]
            if any(cells is None for _, _, cells in parts):
                self._write_as_textual_does(y, [(x, strip) for x, strip, _ in parts], flowing, console)
                continue
            for x, _, cells in parts:
                if cells is not None:
                    self._write_changes(y, x, *cells)
        self._use(PLAIN)
        return "".join(self._out)

    def _forget_line(self, y: int) -> None:
        self._characters.pop(y, None)
        self._pens.pop(y, None)

    def _write_as_textual_does(self, y: int, parts: list[tuple[int, Strip]], flowing: bool, console: Console) -> None:
        """Write a line with text that terminals may show in another width than we think.

        It stays unknown, as does the next line, into which it may run over (below the last one, the screen scrolls).
        """
        self._use(PLAIN)
        for index, (x, strip) in enumerate(parts):
            move = "" if flowing and index else f"\x1b[{y + 1};{x + 1}H"
            self._out.append(move + strip.render(console))
        self._at = None
        self._forget_line(y)
        self._forget_line(y + 1)
        if y >= max(self._characters, default=0):
            self.forget()

    def _write_changes(self, y: int, x: int, characters: list[str], pens: list[Pen]) -> None:
        known, known_pens = self._line(y, x + len(characters))
        end = x + len(characters)
        before, before_pens = known[x:end], known_pens[x:end]
        if before == characters and before_pens == pens:
            return
        changed = [
            index
            for index, (old, new, old_pen, new_pen) in enumerate(
                zip(before, characters, before_pens, pens, strict=True)
            )
            if old != new or old_pen is not new_pen
        ]
        for first, last in _spans(changed, characters, pens):
            self._move(y, x + first)
            self._write(characters, pens, first, last)
            self._at = (y, x + last)
        known[x:end] = characters
        known_pens[x:end] = pens

    def _line(self, y: int, width: int) -> tuple[list[str | None], list[Pen | None]]:
        """Return what is known of a line, at least `width` cells of it."""
        characters = self._characters.setdefault(y, [])
        pens = self._pens.setdefault(y, [])
        missing = width - len(characters)
        if missing > 0:
            characters += [None] * missing
            pens += [None] * missing
        return characters, pens

    def _move(self, y: int, x: int) -> None:
        """Move the cursor, along a line by how far, else to where."""
        if self._at is not None and self._at[0] == y and self._at[1] <= x:
            distance = x - self._at[1]
            if distance:
                self._out.append("\x1b[C" if distance == 1 else f"\x1b[{distance}C")
        else:
            self._out.append(f"\x1b[{y + 1};{x + 1}H")

    def _write(self, characters: list[str], pens: list[Pen], first: int, last: int) -> None:
        """Write the cells from first up to, not including, last."""
        start = first
        while start < last:
            pen, end = pens[start], start + 1
            while end < last and pens[end] is pen:
                end += 1
            self._use(pen)
            self._out.append("".join(characters[start:end]))
            start = end

    def _use(self, pen: Pen) -> None:
        code, self._pen = change(self._pen, pen)
        if code:
            self._out.append(code)


def _spans(changed: list[int], characters: list[str], pens: list[Pen]) -> Iterator[tuple[int, int]]:
    """Return the stretches to write, as first and one past the last: short gaps in one pen are written again."""
    if not changed:
        return
    first, last = changed[0], changed[0]
    for index in changed[1:]:
        gap = pens[last + 1 : index]
        if len(gap) < _BRIDGE and all(pen is pens[last] for pen in gap):
            last = index
        else:
            yield _whole(first, last, characters)
            first = last = index
    yield _whole(first, last, characters)


def _whole(first: int, last: int, characters: list[str]) -> tuple[int, int]:
    """Return a stretch widened so that no wide character is cut."""
    while first > 0 and characters[first] == "":
        first -= 1
    last += 1
    while last < len(characters) and characters[last] == "":
        last += 1
    return first, last


def cells_of(strip: Strip, colours: ColorSystem) -> Cells | None:
    """Return the cells of a strip; None where terminals disagree about widths, or for links and control codes."""
    characters: list[str] = []
    pens: list[Pen] = []
    for text, style, control in strip._segments:
        if control or (style is not None and style._link):
            return None
        cells = _known_cells.get(text)
        if cells is None:
            cells = _known_cells[text] = _cells_of_text(text)
            if len(_known_cells) > 8192:
                _known_cells.clear()
        if not cells:
            if text:
                return None
            continue
        pen = pen_of("" if style is None else _ansi(style, colours))
        characters += cells
        pens += [blank(pen) if text.isspace() else pen] * len(cells)
    return (characters, pens) if len(characters) == strip.cell_length else None


_known_cells: dict[str, list[str]] = {}


def _cells_of_text(text: str) -> list[str]:
    """Return a text as cells; an empty list where some character is no plain narrow or wide one."""
    if text.isascii():
        return list(text) if text.isprintable() else []
    cells: list[str] = []
    for start, end, size in clusters(text):
        if end - start != 1 or size not in (1, 2) or not text[start].isprintable():
            return []
        cells += [text[start]] if size == 1 else [text[start], ""]
    return cells


def _ansi(style: Style, colours: ColorSystem) -> str:
    known = style._ansi
    return known if known is not None else Strip.render_ansi(style, colours)


def _layout_pieces(update: compositor.LayoutUpdate) -> Iterator[Piece]:
    for y, line in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in line:
            yield y, x, strip
            x += strip.cell_length


def _chop_pieces(update: compositor.ChopsUpdate) -> Iterator[Piece]:
    """Return the pieces that Textual would write; each begins at the left edge of its widget."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x >= last or end <= first:
                continue
            yield y, x, strip if end <= last else strip.crop(0, last - x)


def _painted(original: Callable[[Any, Console], str], pieces: Callable[[Any], Iterator[Piece]], flowing: bool) -> Any:
    """Return a method that asks the painter of a console, and the original one where there is none."""

    def render_segments(update: Any, console: Console) -> str:
        painter = _painters.get(console)
        return original(update, console) if painter is None else painter.paint(pieces(update), console, flowing)

    return render_segments


def _forgetting(original: Callable[[Screen[Any], Size], None]) -> Any:
    """Return a method that forgets what the terminal shows: terminals move text about when they are resized."""

    def _screen_resized(screen: Screen[Any], size: Size) -> None:
        painter = _painters.get(screen.app.console)
        if painter is not None:
            painter.forget()
        original(screen, size)

    return _screen_resized


def install(app: App[Any]) -> Painter | None:
    """Let a running app write only what changes; None, and nothing is done, where Textual is not the one we know."""
    if not _knows_textual():
        return None
    _patch()
    painter = _painters[app.console] = Painter()
    app.app_resume_signal.subscribe(app, lambda _: painter.forget(), immediate=True)
    return painter


_originals: list[Any] = []


def _patch() -> None:
    if _originals:
        return
    for owner, name, wrap in (
        (compositor.LayoutUpdate, "render_segments", lambda original: _painted(original, _layout_pieces, True)),
        (compositor.ChopsUpdate, "render_segments", lambda original: _painted(original, _chop_pieces, False)),
        (Screen, "_screen_resized", _forgetting),
    ):
        original = vars(owner)[name]
        _originals.append((owner, name, original))
        setattr(owner, name, wrap(original))


def _knows_textual() -> bool:
    """Tell whether the private parts we stand on are there and take what we expect."""
    expected = (
        (compositor, "LayoutUpdate", ["strips", "region"]),
        (compositor, "ChopsUpdate", ["chops", "spans", "chop_ends"]),
        (Strip, "render_ansi", ["style", "color_system"]),
        (Screen, "_screen_resized", ["self", "size"] if not _originals else ["screen", "size"]),
    )
    for owner, name, parameters in expected:
        part = getattr(owner, name, None)
        if part is None or list(inspect.signature(part).parameters) != parameters:
            return False
    pieces = (compositor.LayoutUpdate, compositor.ChopsUpdate)
    if not all("render_segments" in vars(update) for update in pieces):
        return False
    return hasattr(Strip([]), "_segments") and hasattr(Style(), "_ansi") and hasattr(Style(), "_link")
