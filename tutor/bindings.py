"""Every key of the tutor, once: id, keys, description, where it works, and whether the key bar shows it.

A function key beside a letter is what works while the learner types in a field.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.contract.message import Message, say


@dataclass(frozen=True)
class Key:
    """A key (or several, comma-separated in Textual's names) bound to the action of the same name as `id`."""

    id: str
    keys: str
    shown: str
    short: Message
    description: Message
    places: tuple[str, ...]
    bar: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """The Textual action this key performs: the app's for what works everywhere, else the screen's."""
        return f"app.{self.id}" if self.id in OF_THE_APP else self.id


OF_THE_APP = ("open_map", "labs", "palette", "switch_language", "switch_theme", "show_help", "quit")
MAP, LESSON, BENCH = "map", "lesson", "bench"
EVERYWHERE = (MAP, LESSON, BENCH)

KEYS: tuple[Key, ...] = (
    Key(
        "next_step",
        "right_square_bracket,f8",
        "]",
        say("next"),
        say("Go to the next step (after the last one: back to the course map)"),
        (LESSON,),
        bar=(LESSON,),
    ),
    Key(
        "previous_step",
        "left_square_bracket,f7",
        "[",
        say("back"),
        say("Go to the previous step"),
        (LESSON,),
        bar=(LESSON,),
    ),
    Key(
        "switch_pane",
        "tab,f6",
        "↹",
        say("pane"),
        say("Change to the other pane: the text or its lab"),
        (LESSON, BENCH),
        bar=(LESSON, BENCH),
    ),
    Key(
        "run",
        "f5",
        "⏎",
        say("run"),
        say("Run the lab (enter does it too, where no question waits)"),
        (LESSON, BENCH),
        bar=(LESSON, BENCH),
    ),
    Key(
        "edit_parameters",
        "p,f3",
        "p",
        say("parameters"),
        say("Edit the lab's parameters"),
        (LESSON, BENCH),
        bar=(LESSON, BENCH),
    ),
    Key("toggle_tex", "m", "m", say("TeX"), say("Show formulas as TeX source, or as pictures again"), (LESSON,)),
    Key("describe", "d", "d", say("describe"), say("Describe the figures in words and numbers"), (LESSON, BENCH)),
    Key("copy_value", "y", "y", say("copy"), say("Copy the figures' numbers to the clipboard"), (LESSON, BENCH)),
    Key("open_map", "c", "c", say("map"), say("Go to the course map"), (LESSON, BENCH)),
    Key("labs", "l,f4", "l", say("labs"), say("Open a lab full screen"), EVERYWHERE, bar=(MAP, BENCH)),
    Key(
        "palette",
        "colon,slash,f9",
        ":",
        say("go to"),
        say("Jump to any lesson, step or lab, or run a command, by typing part of its name"),
        EVERYWHERE,
        bar=EVERYWHERE,
    ),
    Key(
        "switch_language",
        "z,f2",
        "z",
        say("中文"),
        say("Change between Chinese and English"),
        EVERYWHERE,
        bar=EVERYWHERE,
    ),
    Key("switch_theme", "t", "t", say("theme"), say("Change between the dark and the light theme"), EVERYWHERE),
    Key("show_help", "question_mark,f1", "?", say("help"), say("Show all keys"), EVERYWHERE, bar=EVERYWHERE),
    Key("quit", "q,f10", "q", say("quit"), say("Leave the tutor; everything is saved already"), EVERYWHERE, bar=(MAP,)),
)


def bar_keys(place: str) -> tuple[Key, ...]:
    """Return the keys the bar of `place` shows, at most eight."""
    return tuple(key for key in KEYS if place in key.bar)


def keys_for(place: str) -> tuple[Key, ...]:
    """Return the keys that work in `place`, in the order of the table."""
    return tuple(key for key in KEYS if place in key.places)
