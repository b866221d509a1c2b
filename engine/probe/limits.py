"""What a child may take while it runs a learner's code: so much time, memory, open files and bytes of a file.

This guards against accidents (a loop without end, a tensor of a terabyte, a file written by mistake), not against
malice: the code runs with the rights of the person who starts the tutor.
"""

from __future__ import annotations

import math
import os
import resource
import sys
import tempfile

OPEN_FILES = 64
FILE_BYTES = 1 << 20
_SPARE_SECONDS = 5  # of the processor, for when the host that stops the child in time is gone


def apply(seconds: float, memory: int) -> None:
    """Limit this process from here on, and leave it in an empty folder."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + seconds) + _SPARE_SECONDS)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    if sys.platform.startswith("linux"):  # elsewhere the address space says nothing about memory
        _limit(resource.RLIMIT_AS, _address_space() + memory)
    os.chdir(tempfile.mkdtemp(prefix="tutor-probe-"))


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _address_space() -> int:
    """Return the bytes of address space that torch and the rest already take."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
