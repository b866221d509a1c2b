"""What host and worker say to each other, and both ends of it.

A worker writes packets: a byte that tells the host what the packet means for the worker, a length, and frames as a
front end reads them, which the host passes on without decoding them.
"""

from __future__ import annotations

import os
import select
import struct
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from engine.contract.protocol import Cancel, Decoder, Device, Errand, Pause, Reply, Resume, Run, encode
from engine.forkserver import ForkServer

_HEAD = struct.Struct(">cI")


class Kind:
    """What a packet means for the worker that wrote it."""

    READY = b"r"  # it can take a run
    STARTED = b"s"  # its run has begun, or moved, on the device told
    EVENT = b"e"  # its run goes on
    LAST = b"l"  # its run is over; it can take the next


class Work(msgspec.Struct, frozen=True, tag="work"):
    """A run, and the devices it can choose from."""

    run: Run
    devices: tuple[Device, ...]


class WorkerEnd:
    """The pipes as the worker holds them."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = requests
        self._replies = replies
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._decoder = Decoder(Work | Cancel | Pause | Resume, preamble=False)
        self._run = -1
        self._paused = False
        self._held = b""
        self.cancelled = False

    def next_work(self) -> Work | None:
        """Wait for the next run; return None when the host is gone."""
        while data := os.read(self._requests, 1 << 16):
            for message in self._decoder.feed(data):
                if isinstance(message, Work):  # what else comes now was meant for a run that is over
                    self._run, self.cancelled, self._paused = message.run.id, False, False
                    return message
        return None

    def should_stop(self) -> bool:
        """Tell whether the run was cancelled; wait here while it is paused."""
        while not self.cancelled and self._poll.poll(None if self._paused else 0):
            self._listen()
        return self.cancelled

    def send(self, kind: bytes, message: Reply) -> None:
        """Write one message, or raise FramingError when it is larger than a frame may be."""
        frames = self._held + encode(message)
        self._held = b""
        write_all(self._replies, _HEAD.pack(kind, len(frames)) + frames)

    def hold(self, message: Reply) -> None:
        """Keep a message that tells little by itself and send it with the next one, which wakes every reader once."""
        self._held += encode(message)

    def _listen(self) -> None:
        data = os.read(self._requests, 1 << 16)
        if not data:
            os._exit(0)  # the host is gone
        for message in self._decoder.feed(data):
            if message.id == self._run:
                self.cancelled |= isinstance(message, Cancel)
                self._paused = isinstance(message, Pause)


class HostEnd:
    """A child of the fork server as the host sees it: its number there, the pipes to it, whether it can take a run."""

    def __init__(self, server: ForkServer, target: str, settings: dict[str, object]) -> None:
        their_requests, self._requests = os.pipe()
        self.replies, their_replies = os.pipe()
        os.set_blocking(self.replies, False)
        self.number = server.start(target, settings, (their_requests, their_replies))
        os.close(their_requests)
        os.close(their_replies)
        self._buffer = bytearray()
        self.born = False  # it has said that it is ready
        self.free = False  # it can take a run
        self.ended = False
        self.errand = False  # it does one thing and ends

    def send(self, message: Work | Errand | Cancel | Pause | Resume) -> None:
        """Write one message; a worker that has just died is left to the news of its exit."""
        with suppress(BrokenPipeError):
            write_all(self._requests, encode(message))

    def receive(self) -> bool:
        """Take in what has come and tell whether that was anything; raise EOFError at the end of the pipe."""
        try:
            data = os.read(self.replies, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            raise EOFError
        self._buffer += data
        return True

    def packets(self) -> Iterator[tuple[bytes, memoryview]]:
        """Yield kind and frames of every packet that is complete; they are valid until the next one is asked for."""
        start = 0
        with memoryview(self._buffer) as view:
            while len(view) - start >= _HEAD.size:
                kind, length = _HEAD.unpack_from(view, start)
                end = start + _HEAD.size + length
                if end > len(view):
                    break
                with view[start + _HEAD.size : end] as frames:
                    yield kind, frames
                start = end
        del self._buffer[:start]

    def close(self) -> None:
        """Close the pipes."""
        os.close(self._requests)
        os.close(self.replies)


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write all of `data`, however little the pipe takes at once."""
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])
