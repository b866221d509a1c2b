"""The table of keys: nothing bound twice, few in the bar, a function key for what is needed while typing."""

from __future__ import annotations

import pytest

from tutor.bindings import EVERYWHERE, KEYS, OF_THE_APP, bar_keys, keys_for
from tutor.i18n import catalogue


@pytest.mark.parametrize("place", EVERYWHERE)
def test_no_key_is_bound_twice_in_a_place(place: str) -> None:
    keys = [name for key in keys_for(place) for name in key.keys.split(",")]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("place", EVERYWHERE)
def test_the_bar_shows_at_most_eight_keys(place: str) -> None:
    assert all(place in key.places for key in bar_keys(place))
    assert 3 <= len(bar_keys(place)) <= 8


def test_only_keys_that_every_terminal_sends_are_used() -> None:
    allowed = {"right_square_bracket", "left_square_bracket", "tab", "colon", "slash", "question_mark", "enter"}
    for key in KEYS:
        for name in key.keys.split(","):
            assert name in allowed or (len(name) == 1 and name.isalnum()) or name in {f"f{n}" for n in range(1, 11)}


def test_what_is_needed_while_typing_has_a_function_key() -> None:
    for key in KEYS:
        if key.id in ("next_step", "previous_step", "switch_pane", "run", "switch_language", "show_help", "quit"):
            assert any(name.startswith("f") and name[1:].isdigit() for name in key.keys.split(","))


def test_every_key_speaks_chinese() -> None:
    for key in KEYS:
        assert key.short.id in catalogue()
        assert key.description.id in catalogue()


def test_keys_of_the_app_act_on_the_app() -> None:
    assert all(key.action == f"app.{key.id}" for key in KEYS if key.id in OF_THE_APP)
    assert {key.id for key in KEYS if set(key.places) == set(EVERYWHERE)} <= set(OF_THE_APP)
