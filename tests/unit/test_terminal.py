"""What a terminal can do follows from its environment."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tutor.terminal import Depth, Terminal, colour_depth, describe, draws_unicode

_RICH_NAMES = {"truecolor": Depth.TRUE, "256": Depth.ANSI256, "standard": Depth.ANSI16, None: Depth.NONE}

ENVIRONMENTS = [
    ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, Depth.TRUE),
    ({"TERM": "xterm", "COLORTERM": "24bit"}, Depth.TRUE),
    ({"TERM": "xterm-256color"}, Depth.ANSI256),
    ({"TERM": "screen-256color"}, Depth.ANSI256),
    ({"TERM": "tmux-256color", "COLORTERM": ""}, Depth.ANSI256),
    ({"TERM": "xterm-kitty"}, Depth.ANSI256),
    ({"TERM": "xterm"}, Depth.ANSI16),
    ({"TERM": "screen"}, Depth.ANSI16),
    ({"TERM": "linux"}, Depth.ANSI16),
    ({"TERM": "dumb", "COLORTERM": "truecolor"}, Depth.NONE),
    ({"TERM": "unknown"}, Depth.NONE),
]


@pytest.mark.parametrize(("environment", "depth"), ENVIRONMENTS)
def test_depth_of_an_environment_is_the_one_rich_will_write(environment: dict[str, str], depth: Depth) -> None:
    assert colour_depth(environment) is depth
    console = Console(file=io.StringIO(), force_terminal=True, _environ=environment)
    assert _RICH_NAMES[console.color_system] is depth


def test_no_color_wins_over_every_terminal_unless_it_is_empty() -> None:
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    assert colour_depth({**terminal, "NO_COLOR": "1"}) is Depth.NONE
    assert colour_depth({**terminal, "NO_COLOR": ""}) is Depth.TRUE


def test_plain_has_no_colour_and_keeps_the_encoding() -> None:
    environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    assert describe(environment, "utf-8", plain=True) == Terminal(Depth.NONE, unicode=True)
    assert describe(environment, "ascii", plain=True) == Terminal(Depth.NONE, unicode=False)
    assert describe(environment, "utf-8") == Terminal(Depth.TRUE, unicode=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb2312", "cp437", None, "no-such-encoding"])
def test_encodings_that_lack_a_drawing_character_get_ascii(encoding: str | None) -> None:
    assert not draws_unicode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf-16", "gb18030"])
def test_encodings_that_have_them_all_get_unicode(encoding: str) -> None:
    assert draws_unicode(encoding)
