"""Nothing of the engine outlives its host, not even when the host is killed.

Every child watches a *lifeline*: a pipe whose write end only the host holds, so that the read end closes with it. On
Linux the kernel moreover kills a child whose parent has died, for the thread that watches the pipe cannot run while
native code holds Python's lock.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def watch(lifeline: int) -> None:
    """Kill this process as soon as the pipe `lifeline` closes."""

    def wait() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, the process `parent`, dies (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the kernel knew
        os._exit(1)
