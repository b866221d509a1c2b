"""The colours and attributes a terminal writes with, and the shortest code from one pen to another."""

from __future__ import annotations

from typing import NamedTuple

_INVISIBLE_ON_BLANKS = frozenset({"1", "2", "3"})  # bold, dim, italic


class Pen(NamedTuple):
    """Attributes, foreground and background as SGR parameters; empty is the terminal's own.

    A foreground of None is that of a blank, which nobody sees.
    """

    attributes: tuple[str, ...]
    foreground: str | None
    background: str


PLAIN = Pen((), "", "")

_pens: dict[str, Pen] = {"": PLAIN}
_blanks: dict[Pen, Pen] = {}
_same: dict[Pen, Pen] = {PLAIN: PLAIN}
_changes: dict[tuple[Pen, Pen], tuple[str, Pen]] = {}


def pen_of(ansi: str) -> Pen:
    """Return the pen of SGR parameters such as "1;38;2;9;9;9;48;5;17"; equal pens are the same object."""
    pen = _pens.get(ansi)
    if pen is None:
        pen = _parse(ansi)
        pen = _pens[ansi] = _same.setdefault(pen, pen)
    return pen


def _parse(ansi: str) -> Pen:
    attributes: list[str] = []
    foreground = background = ""
    numbers = ansi.split(";")
    index = 0
    while index < len(numbers):
        number = numbers[index]
        length = 1
        if number in ("38", "48") and index + 1 < len(numbers):
            length = 5 if numbers[index + 1] == "2" else 3
        code = ";".join(numbers[index : index + length])
        if number == "38" or (len(number) == 2 and number[0] in "39" and number != "39" and number[1] in "01234567"):
            foreground = code
        elif number == "48" or number in _BACKGROUNDS:
            background = code
        elif number == "39":
            foreground = ""
        elif number == "49":
            background = ""
        else:
            attributes.append(number)
        index += length
    return Pen(tuple(attributes), foreground, background)


_BACKGROUNDS = frozenset(str(base + colour) for base in (40, 100) for colour in range(8))


def blank(pen: Pen) -> Pen:
    """Return the pen for blanks in the place of `pen`: without what only ink shows."""
    found = _blanks.get(pen)
    if found is None:
        hidden = _INVISIBLE_ON_BLANKS.issuperset(pen.attributes)
        made = Pen((), None, pen.background) if hidden else pen
        found = _blanks[pen] = _same.setdefault(made, made)
    return found


def change(now: Pen, wanted: Pen) -> tuple[str, Pen]:
    """Return the code that changes one pen into another, and the pen the terminal then has."""
    if now is wanted:
        return "", now
    found = _changes.get((now, wanted))
    if found is None:
        if len(_changes) > 65536:
            _changes.clear()
        found = _changes[now, wanted] = _change(now, wanted)
    return found


def _change(now: Pen, wanted: Pen) -> tuple[str, Pen]:
    attributes, foreground, background = wanted
    if foreground is None:
        foreground = now.foreground or ""
        if _INVISIBLE_ON_BLANKS.issuperset(now.attributes):
            attributes = now.attributes
    after = Pen(attributes, foreground, background)
    after = _same.setdefault(after, after)
    if after == now:
        return "", after
    if after == PLAIN:
        return "\x1b[m", after
    whole = ";".join(part for part in ("0", *attributes, foreground, background) if part)
    if not set(now.attributes) <= set(attributes):
        return f"\x1b[{whole}m", after
    parts = [attribute for attribute in attributes if attribute not in now.attributes]
    if foreground != now.foreground:
        parts.append(foreground or "39")
    if background != now.background:
        parts.append(background or "49")
    step = ";".join(parts)
    return f"\x1b[{min(step, whole, key=len)}m", after
