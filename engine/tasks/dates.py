"""DATES: a date as people write it, into ISO 8601, character by character.

    March 5, 1998  →  1998-03-05         1998年3月5日  →  1998-03-05

It is known which characters decide year, month and day; copying, looking up and padding with zeros are all in it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.tasks.draws import Draws

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST = datetime.date(1900, 1, 1)
DAYS = (datetime.date(2050, 1, 1) - FIRST).days

Role = Literal["", "year", "month", "day"]
Parts = list[tuple[Role, str]]


@dataclass(frozen=True)
class WrittenDate:
    """The text, its ISO form, and for "year", "month" and "day" the range of characters that decides it."""

    text: str
    iso: str
    spans: dict[str, tuple[int, int]]


def ordinal(day: int) -> str:
    """Return the ending of an English ordinal number: 1st, 2nd, 3rd, 4th, 11th."""
    if day in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _english(day: datetime.date) -> Parts:
    return [("month", MONTHS[day.month - 1]), ("", " "), ("day", f"{day.day}"), ("", ", "), ("year", f"{day.year}")]


def _british(day: datetime.date) -> Parts:
    number: Parts = [("day", f"{day.day}"), ("", ordinal(day.day) + " ")]
    return [*number, ("month", MONTHS[day.month - 1]), ("", " "), ("year", f"{day.year}")]


def _short(day: datetime.date) -> Parts:
    return [("day", f"{day.day}"), ("", " "), ("month", MONTHS[day.month - 1][:3]), ("", " "), ("year", f"{day.year}")]


def _with_weekday(day: datetime.date) -> Parts:
    return [("", WEEKDAYS[day.weekday()] + ", "), *_english(day)]


def _short_with_weekday(day: datetime.date) -> Parts:
    return [("", WEEKDAYS[day.weekday()][:3] + " "), *_short(day)]


def _chinese(day: datetime.date) -> Parts:
    return [
        ("year", f"{day.year}"),
        ("", "年"),
        ("month", f"{day.month}"),
        ("", "月"),
        ("day", f"{day.day}"),
        ("", "日"),
    ]


def _slashes(day: datetime.date) -> Parts:
    return [("year", f"{day.year}"), ("", "/"), ("month", f"{day.month:02d}"), ("", "/"), ("day", f"{day.day:02d}")]


FORMATS: tuple[Callable[[datetime.date], Parts], ...] = (
    _english,
    _british,
    _short,
    _with_weekday,
    _short_with_weekday,
    _chinese,
    _slashes,
)


def write(day: datetime.date, format: Callable[[datetime.date], Parts]) -> WrittenDate:
    """Write a day in one of `FORMATS`."""
    text = ""
    spans: dict[str, tuple[int, int]] = {}
    for role, part in format(day):
        if role:
            spans[role] = (len(text), len(text) + len(part))
        text += part
    return WrittenDate(text, day.isoformat(), spans)


def draw_dates(draws: Draws, count: int) -> list[WrittenDate]:
    """Draw `count` days from 1900 to 2049, each in a format of its own."""
    return [write(FIRST + datetime.timedelta(draws.below(DAYS)), draws.choice(FORMATS)) for _ in range(count)]


def characters() -> tuple[str, ...]:
    """Return every character a date can be written with, in a fixed order."""
    days = (FIRST + datetime.timedelta(number) for number in range(366))
    return tuple(sorted({letter for day in days for format in FORMATS for letter in write(day, format).text}))
