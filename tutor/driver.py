"""Textual's Linux driver, hardened against what a shell or a terminal may hand it.

Old-style (X10) mouse reports past column 95 are not UTF-8. Terminals send them after tmux re-attaches or an editor's
terminal reloads, and the stock driver dies of a UnicodeDecodeError. It also draws on stderr: after `tutor 2>log` the
screen would stay empty and the log would hold the picture.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from typing import Any

from textual.drivers import linux_driver


def _forgiving(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a factory of decoders that replace what they cannot decode."""
    decoder = codecs.getincrementaldecoder(encoding)
    return lambda: decoder(errors="replace")


class HardenedDriver(linux_driver.LinuxDriver):
    """A Linux driver whose input never raises on undecodable bytes, and which draws on a terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if not (sys.__stderr__ and sys.__stderr__.isatty()):
            self._file = sys.__stdout__

    def run_input_thread(self) -> Any:
        """Read input with a decoder that replaces what is not UTF-8."""
        vars(linux_driver)["getincrementaldecoder"] = _forgiving
        return super().run_input_thread()
