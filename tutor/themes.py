"""The two looks of the tutor. Every colour is one of xterm's 256, so that a terminal with 256 shows the same screen."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="tutor-dark",
    dark=True,
    primary="#5fafd7",
    secondary="#87afaf",
    accent="#ffaf5f",
    foreground="#d0d0d0",
    background="#121212",
    surface="#1c1c1c",
    panel="#262626",
    boost="#303030",
    success="#87af5f",
    warning="#ffd75f",
    error="#ff875f",
    variables={
        "block-cursor-foreground": "#121212",
        "block-cursor-background": "#ffaf5f",
        "block-cursor-text-style": "bold",
        "footer-key-foreground": "#ffaf5f",
        "scrollbar": "#444444",
        "scrollbar-hover": "#626262",
        "scrollbar-active": "#ffaf5f",
        "scrollbar-background": "#121212",
        "scrollbar-background-hover": "#121212",
        "scrollbar-background-active": "#121212",
        "border": "#ffaf5f",
        "border-blurred": "#3a3a3a",
    },
)

LIGHT = Theme(
    name="tutor-light",
    dark=False,
    primary="#005faf",
    secondary="#5f8787",
    accent="#af5f00",
    foreground="#262626",
    background="#ffffff",
    surface="#eeeeee",
    panel="#e4e4e4",
    boost="#dadada",
    success="#5f8700",
    warning="#af8700",
    error="#af0000",
    variables={
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#af5f00",
        "block-cursor-text-style": "bold",
        "footer-key-foreground": "#af5f00",
        "scrollbar": "#bcbcbc",
        "scrollbar-hover": "#9e9e9e",
        "scrollbar-active": "#af5f00",
        "scrollbar-background": "#ffffff",
        "scrollbar-background-hover": "#ffffff",
        "scrollbar-background-active": "#ffffff",
        "border": "#af5f00",
        "border-blurred": "#c6c6c6",
    },
)

THEMES = {"dark": DARK, "light": LIGHT}
AVAILABLE = {**BUILTIN_THEMES, **{theme.name: theme for theme in THEMES.values()}}
"""Textual's themes and ours by Textual's names for them, for `TEXTUAL_THEME`."""
