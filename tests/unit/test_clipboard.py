"""Copying: OSC 52, wrapped for tmux, nothing when it would not arrive."""

from __future__ import annotations

import base64

from tutor.clipboard import LARGEST, osc52


def test_text_goes_out_as_base64_in_osc_52() -> None:
    sequence = osc52("注意力 0.4011", {})
    assert sequence.startswith("\x1b]52;c;")
    assert sequence.endswith("\a")
    assert base64.b64decode(sequence[len("\x1b]52;c;") : -1]).decode() == "注意力 0.4011"


def test_inside_tmux_the_sequence_is_passed_through() -> None:
    sequence = osc52("x", {"TMUX": "/tmp/tmux-0/default,1,0"})
    assert sequence == "\x1bPtmux;\x1b" + osc52("x", {}) + "\x1b\\"


def test_more_than_terminals_take_is_not_sent() -> None:
    assert osc52("x" * LARGEST, {}) != ""
    assert osc52("x" * (LARGEST + 1), {}) == ""
