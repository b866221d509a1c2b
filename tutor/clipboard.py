"""Copying out of a terminal: OSC 52 where it arrives, and a file for where it does not."""

from __future__ import annotations

import base64
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.progress.place import data_directory

if TYPE_CHECKING:
    from textual.app import App

LARGEST = 74_000  # bytes of text; many terminals drop longer OSC 52 sequences


def osc52(text: str, environment: dict[str, str] | None = None) -> str:
    """Return the escape sequence that puts `text` on the clipboard, wrapped for tmux; "" when it is too long."""
    environment = dict(os.environ) if environment is None else environment
    raw = text.encode("utf-8", "replace")
    if len(raw) > LARGEST:
        return ""
    sequence = f"\x1b]52;c;{base64.b64encode(raw).decode('ascii')}\a"
    return f"\x1bPtmux;\x1b{sequence}\x1b\\" if environment.get("TMUX") else sequence


def copy_and_keep(app: App[None], text: str, name: str) -> Path | None:
    """Put `text` on the clipboard and write it to a file; return the file, or None where it cannot be written."""
    sequence = osc52(text)
    driver = app._driver
    if sequence and driver is not None:
        driver.write(sequence)
        driver.flush()
    home = data_directory()
    if home is None:
        return None
    try:
        folder = home / "copies"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}-{datetime.now():%Y%m%d-%H%M%S}.txt"
        path.write_text(text + "\n", "utf-8")
    except OSError:
        return None
    return path
