"""How the engine stands, as the front ends are told."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.contract.message import Message


class EngineState(msgspec.Struct, frozen=True):
    """Not there, on its way, able to compute, on its way again, or given up; `message` is what a learner should know.

    A failed engine is tried again with the next run.
    """

    phase: Literal["stopped", "starting", "ready", "restarting", "failed"]
    message: Message | None = None
