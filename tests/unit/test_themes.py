"""Both themes use only colours that 256-colour terminals have, and can be read."""

from __future__ import annotations

import pytest
from textual.color import Color as Shade
from textual.theme import Theme

from tutor.themes import THEMES

STEPS = (0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)
XTERM = {(r, g, b) for r in STEPS for g in STEPS for b in STEPS} | {(8 + 10 * n,) * 3 for n in range(24)}


def colours(theme: Theme) -> dict[str, str]:
    named = {name: getattr(theme, name) for name in ("primary", "accent", "foreground", "background", "error", "panel")}
    return {**named, **{name: value for name, value in theme.variables.items() if value.startswith("#")}}


@pytest.mark.parametrize("name", list(THEMES))
def test_a_256_colour_terminal_shows_the_same_colours(name: str) -> None:
    for use, value in colours(THEMES[name]).items():
        assert Shade.parse(value).rgb in XTERM, (use, value)


def luminance(shade: Shade) -> float:
    """Return the relative luminance of WCAG 2.1."""
    channels = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shade.normalized]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one: Shade, other: Shade) -> float:
    """Return the contrast ratio of WCAG 2.1, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", list(THEMES))
def test_text_and_accent_stand_out_from_the_background(name: str) -> None:
    theme = THEMES[name]
    background = Shade.parse(theme.background or "#000000")
    for value in (theme.foreground, theme.accent, theme.error):
        assert contrast(background, Shade.parse(value or "#000000")) >= 4.5, value
