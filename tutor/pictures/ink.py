"""Styled lines that know neither Rich's console nor Textual: what every picture is made of.

A colour is always given as red, green, blue. For poorer terminals the palette picks triples that Rich's conversion
maps to exactly the intended index, so that one kind of colour is enough everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from engine.contract.message import Message
from tutor.text.width import cells

Colour = tuple[int, int, int]
Role = Literal["", "muted", "strong", "accent", "warning"]
Translate = Callable[[Message], str]


class Look(NamedTuple):
    """How a piece of text looks: data colours, and a role that the theme of the day gives its colour."""

    foreground: Colour | None = None
    background: Colour | None = None
    role: Role = ""


class Span(NamedTuple):
    """A piece of one line."""

    text: str
    look: Look = Look()


Line = list[Span]

MUTED = Look(role="muted")
STRONG = Look(role="strong")
WARNING = Look(role="warning")

_SHELL_ROLES: dict[Role, Style] = {
    "": Style(),
    "muted": Style(dim=True),
    "strong": Style(bold=True),
    "accent": Style(bold=True),
    "warning": Style(bold=True),
}


def width_of(line: Line) -> int:
    """Return the terminal cells a line takes."""
    return sum(cells(span.text) for span in line)


def plain(line: Line) -> str:
    """Return the characters of a line, without its colours and without blanks at its end."""
    return "".join(span.text for span in line).rstrip()


def merged(spans: Iterable[Span]) -> Line:
    """Return the spans with equal neighbours joined, so that a terminal gets one escape code for them."""
    line: Line = []
    for span in spans:
        if line and line[-1].look == span.look:
            line[-1] = Span(line[-1].text + span.text, span.look)
        elif span.text:
            line.append(span)
    return line


def style_of(look: Look, roles: Mapping[Role, Style]) -> Style:
    """Return a look as a Rich style; `roles` says how this front end shows each role."""
    style = roles[look.role]
    if look.foreground is None and look.background is None:
        return style
    foreground = None if look.foreground is None else Color.from_rgb(*look.foreground)
    background = None if look.background is None else Color.from_rgb(*look.background)
    return style + Style.from_color(foreground, background)


def segments(line: Line, roles: Mapping[Role, Style], known: dict[Look, Style]) -> list[Segment]:
    """Return a line as Rich segments; `known` remembers the styles made so far."""
    made = []
    for text, look in line:
        style = known.get(look)
        if style is None:
            style = known[look] = style_of(look, roles)
        made.append(Segment(text, style))
    return made


def rich_text(line: Line) -> Text:
    """Return a line as Rich text for the shell."""
    text = Text(no_wrap=True, end="\n")
    for piece, look in line:
        text.append(piece, style_of(look, _SHELL_ROLES))
    return text
