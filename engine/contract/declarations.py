"""What a lab is before anything is computed: its name, title, parameters and cost.

A lab is two files of one name: `engine/contract/labs/NAME.py` says what can be asked (no torch, so that the form is on
the first screen), `engine/labs/NAME.py` answers it. A test keeps the pairs together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from engine.contract.message import Message
from engine.contract.parameters import Params


@dataclass(frozen=True)
class Cost:
    """What a run is expected to take on one CPU thread: seconds of time, bytes of memory beyond the engine's own."""

    seconds: float
    bytes: int = 0


@dataclass(frozen=True)
class Lab:
    """A lab as the front ends see it.

    `runs_on` is "cpu" for analytic labs (float64, exact there and faster than a kernel launch) and "any" for labs
    that take an accelerator when there is one. `notice` is the sentence that says what to look at.
    """

    name: str
    title: Message
    notice: Message
    parameters: type[Params]
    estimate: Callable[[Any], Cost]
    lessons: tuple[str, ...]
    runs_on: Literal["cpu", "any"] = "cpu"
    trains: bool = False
