"""The style names in prose, and how they look until a theme says otherwise."""

from __future__ import annotations

from rich.text import Text

HEADING = "prose.heading"
STRONG = "prose.strong"
EMPHASIS = "prose.emphasis"
CODE = "prose.code"
FORMULA = "prose.formula"
QUOTE = "prose.quote"
LINK = "prose.link"
MUTED = "prose.muted"

STYLES: dict[str, str] = {
    HEADING: "bold",
    STRONG: "bold",
    EMPHASIS: "italic",
    CODE: "cyan",
    FORMULA: "none",
    QUOTE: "none",
    LINK: "underline",
    MUTED: "dim",
}
"""Style name → Rich style, for `rich.theme.Theme` and as the default of the front ends."""


def styled(text: str, name: str) -> Text:
    """The text with the named style as a span, where every reader of prose looks for it."""
    shown = Text(text)
    if name:
        shown.stylize(name)
    return shown
