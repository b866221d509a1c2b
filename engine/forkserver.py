"""The fork server: a process that has loaded torch and the labs, and forks a ready worker within 15 ms.

It is a fork of the host made before the host has loaded anything, and keeps one thread. (multiprocessing's own fork
server blocks its owner until the preload is over, needs a second process that tracks resources, and up to Python 3.12
looks for modules in the working folder first, where a learner's `random.py` may lie.) Where a fork cannot use the
accelerator (Metal on a Mac) the same server loads nothing and starts each child as a fresh interpreter.
"""

from __future__ import annotations

import gc
import os
import pkgutil
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import msgspec

from engine import lifeline
from engine.contract.protocol import Decoder, encode

_MOST_FDS = 8
_FRESH = "import sys; sys.path[:] = sys.argv[1].split(':'); from engine import forkserver; forkserver.fresh()"


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Start child `number`: it calls `target` ("module:function") with the passed fds and `settings`."""

    number: int
    target: str
    settings: dict[str, Any]


class Kill(msgspec.Struct, frozen=True, tag="kill"):
    """Kill child `number` if it still lives."""

    number: int


class Exited(msgspec.Struct, frozen=True, tag="exited"):
    """Child `number` is gone; a negative `code` is the signal that ended it."""

    number: int
    code: int


class ForkServer:
    """The host's end: orders go out, news of exits come in, and nothing here waits for the server."""

    def __init__(self, preload: str, settings: dict[str, Any], *, fresh: bool = False) -> None:
        self._control, theirs = socket.socketpair()
        host = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _be_server(theirs, host, "" if fresh else preload, settings)
        theirs.close()
        self._control.setblocking(False)
        self._lifeline, self._held = os.pipe()
        self._news = Decoder(Exited, preamble=False)
        self._started = 0

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is news."""
        return self._control.fileno()

    def start(self, target: str, settings: dict[str, Any], fds: Sequence[int]) -> int:
        """Order a child that calls `target(*fds, **settings)`; return its number. The fds stay open on this side."""
        self._started += 1
        order = encode(Start(self._started, target, settings))
        with suppress(ConnectionError):  # `news` tells that the server is gone
            socket.send_fds(self._control, [order], [self._lifeline, *fds])
        return self._started

    def kill(self, number: int) -> None:
        """Order the end of a child."""
        with suppress(ConnectionError):
            self._control.send(encode(Kill(number)))

    def news(self) -> list[Exited]:
        """Return the exits since the last call; raise EOFError when the server itself is gone."""
        try:
            data = self._control.recv(65536)
        except BlockingIOError:
            return []
        except ConnectionError:
            data = b""
        if not data:
            raise EOFError("the fork server is gone")
        return list(self._news.feed(data))

    def close(self) -> None:
        """End the server and all its children."""
        self._control.close()
        os.close(self._held)
        os.close(self._lifeline)
        os.waitpid(self._pid, os.WNOHANG)  # no zombie where it had died


def fresh() -> NoReturn:
    """Be a child that was started as a fresh interpreter: the order and the fds are in the arguments."""
    order = msgspec.msgpack.decode(bytes.fromhex(sys.argv[2]), type=Start)
    _be_child(order, [int(fd) for fd in sys.argv[3:]])


def _be_server(control: socket.socket, host: int, preload: str, settings: dict[str, Any]) -> NoReturn:
    """Be the server until the host closes its end, then kill what is left."""
    try:
        lifeline.die_with(host)
        os.closerange(3, control.fileno())
        os.closerange(control.fileno() + 1, 4096)
        if preload:
            gc.disable()  # a tenth of the time that torch takes to load
            pkgutil.resolve_name(preload)(**settings)
            gc.freeze()  # a collection in a worker must not touch, and so copy, the shared pages
            gc.enable()
        _Server(control, fresh=not preload).serve()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


class _Server:
    """The loop of the server process."""

    def __init__(self, control: socket.socket, *, fresh: bool) -> None:
        self._control = control
        self._fresh = fresh
        self._children: dict[int, int] = {}  # number by process id

    def serve(self) -> None:
        orders = Decoder(Start | Kill, preamble=False)
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        control = self._control.fileno()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            readable, _, _ = select.select([wake, control], [], [])
            if wake in readable:
                os.read(wake, 4096)
                self._report_exits()
            if control in readable:
                data, fds, _, _ = socket.recv_fds(self._control, 65536, _MOST_FDS)
                if not data:
                    break
                for order in orders.feed(data):
                    self._obey(order, fds)
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)

    def _obey(self, order: Start | Kill, fds: list[int]) -> None:
        if isinstance(order, Kill):
            for pid, number in self._children.items():
                if number == order.number:
                    os.kill(pid, signal.SIGKILL)
            return
        sys.stdout.flush()
        sys.stderr.flush()
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # no memory or no process left
            traceback.print_exc()
            self._control.sendall(encode(Exited(order.number, 1)))
        else:
            if pid == 0:
                self._become(order, fds, server)
            self._children[pid] = order.number
        for fd in fds:
            os.close(fd)

    def _become(self, order: Start, fds: list[int], server: int) -> NoReturn:
        try:
            lifeline.die_with(server)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            if self._fresh:
                for fd in fds:
                    os.set_inheritable(fd, True)
                arguments = (":".join(sys.path), msgspec.msgpack.encode(order).hex(), *map(str, fds))
                os.execv(sys.executable, (sys.executable, "-c", _FRESH, *arguments))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        _be_child(order, fds)

    def _report_exits(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            self._control.sendall(encode(Exited(self._children.pop(pid), code)))


def _be_child(order: Start, fds: list[int]) -> NoReturn:
    """Call what the order names and leave; an exception is told on stderr."""
    code = 1
    try:
        lifeline.watch(fds[0])
        pkgutil.resolve_name(order.target)(*fds[1:], **order.settings)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
