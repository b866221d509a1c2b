"""The bytes that an update needs at least: its changed cells, written by somebody who knows what the screen shows.

Differences are read off two screens of pyte. The encoder moves the cursor only over gaps that are dearer to write
again, changes only the colours and attributes that differ, and takes no notice of a blank's foreground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyte

Cell = Any  # pyte's Char, which has no types
Grid = list[list[Cell]]
_ATTRIBUTES = {"bold": "1", "italics": "3", "underscore": "4", "blink": "5", "reverse": "7", "strikethrough": "9"}


def grid(screen: pyte.Screen) -> Grid:
    """Return a copy of what the screen shows."""
    return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]


def least_bytes(before: Grid, after: Grid) -> int:
    """Return the bytes that turn one screen into the other."""
    written = 0
    at: tuple[int, int] | None = None
    pen: dict[str, Any] = {}
    for y, x in _changed(before, after):
        cell = after[y][x]
        if at != (y, x):
            written += _move(at, y, x, after, pen)
        codes = _codes(pen, cell)
        written += len(";".join(codes)) + 3 if codes else 0
        written += len(cell.data.encode())
        at = (y, x + 1)
    return written


def _changed(before: Grid, after: Grid) -> Iterator[tuple[int, int]]:
    for y, (old, new) in enumerate(zip(before, after, strict=True)):
        for x, (was, now) in enumerate(zip(old, new, strict=True)):
            if was != now:
                yield y, x


def _move(at: tuple[int, int] | None, y: int, x: int, after: Grid, pen: dict[str, Any]) -> int:
    """Return the bytes to get to a cell: a cursor code, or the cells between when they are cheaper and alike."""
    move = len(f"\x1b[{y + 1};{x + 1}H")
    if at is None or at[0] != y:
        return move
    gap = after[y][at[1] : x]
    if any(_codes(dict(pen), cell) for cell in gap):
        return min(move, len(f"\x1b[{x - at[1]}C"))
    return min(move, len(f"\x1b[{x - at[1]}C"), len("".join(cell.data for cell in gap).encode()))


def _codes(pen: dict[str, Any], cell: Cell) -> list[str]:
    """Return the SGR parameters a cell needs, and note them in `pen`."""
    codes = []
    for name, code in _ATTRIBUTES.items():
        if getattr(cell, name) != pen.get(name, False) and (cell.data != " " or name in ("underscore", "reverse")):
            codes.append(code if getattr(cell, name) else "2" + code)
            pen[name] = getattr(cell, name)
    if cell.fg != pen.get("fg", "default") and cell.data != " ":
        codes.append(_colour("38", "39", cell.fg))
        pen["fg"] = cell.fg
    if cell.bg != pen.get("bg", "default"):
        codes.append(_colour("48", "49", cell.bg))
        pen["bg"] = cell.bg
    return codes


def _colour(code: str, default: str, colour: str) -> str:
    if len(colour) != 6 or colour == "default":
        return default
    return f"{code};2;" + ";".join(str(part) for part in bytes.fromhex(colour))
