"""Why a process ended, in words: the engine says it of its workers, the front end of the engine."""

from __future__ import annotations

import signal

from engine.contract.message import Message, say

_REASONS = {
    signal.SIGKILL: say("it was killed from outside; it was probably out of memory"),
    signal.SIGSEGV: say("it used memory that is not its own (segmentation fault)"),
    signal.SIGBUS: say("it used memory that is not there (bus error)"),
    signal.SIGABRT: say("a library gave up (abort)"),
    signal.SIGFPE: say("it did impossible arithmetic (floating-point exception)"),
    signal.SIGILL: say("it met an instruction that this processor does not have"),
    signal.SIGTERM: say("it was told to end from outside"),
}


def crashed(reason: Message) -> Message:
    """Return what to tell of a run whose process ended in the middle."""
    return say("The computation ended in the middle: {reason}. The next run starts afresh.", reason=reason)


def reason(code: int) -> Message:
    """Return why a process ended with `code`; a negative code is a signal."""
    if code >= 0:
        return say("it ended by itself with exit code {code}", code=code)
    try:
        number = signal.Signals(-code)
    except ValueError:
        return say("signal {name} ended it", name=-code)
    return _REASONS.get(number, say("signal {name} ended it", name=number.name))
