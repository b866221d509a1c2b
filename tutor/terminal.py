"""What this terminal can do: how many colours, and whether it can show box and block characters."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

# Every character the pictures draw with; a code page that lacks one of them gets ASCII pictures.
_DRAWN = "░▒▓█▀▄▕▏▁▌─│·…→↓×⠁⡇●"


class Depth(enum.IntEnum):
    """How many colours a terminal shows, poorest first."""

    NONE = 0
    ANSI16 = 4
    ANSI256 = 8
    TRUE = 24


@dataclass(frozen=True)
class Terminal:
    """What pictures may use."""

    depth: Depth = Depth.TRUE
    unicode: bool = True


PLAIN = Terminal(Depth.NONE)


def colour_depth(environment: Mapping[str, str]) -> Depth:
    """Return how many colours the environment promises; the same as Rich would, except that dumb means none.

    ssh forwards TERM but not COLORTERM, so 256 colours is the usual answer on a remote machine.
    """
    term = environment.get("TERM", "").strip().lower()
    if environment.get("NO_COLOR") or term in ("dumb", "unknown"):
        return Depth.NONE
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return Depth.TRUE
    return Depth.ANSI256 if term.endswith(("-256color", "-kitty")) else Depth.ANSI16


def draws_unicode(encoding: str | None) -> bool:
    """Tell whether text in this encoding can hold every character the pictures draw with."""
    try:
        _DRAWN.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def describe(environment: Mapping[str, str], encoding: str | None, plain: bool = False) -> Terminal:
    """Return what the terminal of this environment can do; `plain` asks for text without escape codes."""
    return Terminal(Depth.NONE if plain else colour_depth(environment), draws_unicode(encoding))
