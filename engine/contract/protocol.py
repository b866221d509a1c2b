"""The conversation between a front end and the engine process: messages and framing.

A frame is a 4-byte big-endian length and a msgpack map. The engine opens its stream with `PREAMBLE`, so that whatever
a login shell prints first (an ssh banner) is recognised as noise and skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from engine.contract.message import Message
from engine.contract.report import Partial, Progress, Report

PROTOCOL = 1
PREAMBLE = b"TUTOR\0%c\n" % PROTOCOL
LARGEST_FRAME = 64 * 1024 * 1024
LONGEST_NOISE = 64 * 1024


class Run(msgspec.Struct, frozen=True, tag="run"):
    """Start the lab `lab`; `params` are plain values, validated again by the engine. One run at a time: a new one
    cancels the one in progress."""

    id: int
    lab: str
    params: dict[str, Any]
    seed: int = 0
    device: str = "auto"
    language: Literal["zh", "en"] = "en"


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Stop run `id`; answered by `Failed(code="cancelled")` once the engine is ready for the next run."""

    id: int


class Pause(msgspec.Struct, frozen=True, tag="pause"):
    """Hold a training run where it is."""

    id: int


class Resume(msgspec.Struct, frozen=True, tag="resume"):
    """Go on with a paused run."""

    id: int


class Close(msgspec.Struct, frozen=True, tag="close"):
    """End the engine."""


class Probe(msgspec.Struct, frozen=True, tag="probe"):
    """Run a learner's own module or function on `text`, in a child of its own with limits, and report on it.

    `source` is the text of the file called `file`; `name` is a class, function or module in it, "" for the only one.
    """

    id: int
    file: str
    source: str
    name: str
    text: str
    seed: int = 0
    seconds: float = 20.0
    memory: int = 2 << 30


class View(msgspec.Struct, frozen=True, tag="view"):
    """Report on the tensors in a file, read in a child of its own; `name` is one of them, "" for all."""

    id: int
    file: str
    data: bytes
    name: str = ""
    seconds: float = 20.0
    memory: int = 2 << 30


Errand = Probe | View
"""What is done once, in a child that ends with it."""

Job = Run | Probe | View
"""What has an id and ends with one `Finished` or `Failed`."""

Request = Run | Probe | View | Cancel | Pause | Resume | Close


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """The engine is there: protocol version, versions of python, torch and the tutor, names of the labs it has."""

    protocol: int
    versions: dict[str, str]
    labs: tuple[str, ...]


class Device(msgspec.Struct, frozen=True):
    """A device runs can use: "cpu", "cuda:0", "mps"; its product name, free and total memory in bytes."""

    id: str
    name: str
    free: int
    total: int


class Devices(msgspec.Struct, frozen=True, tag="devices"):
    """What the first worker found; `preferred` is what `auto` means now."""

    devices: tuple[Device, ...]
    preferred: str


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A worker has loaded the labs: from now on a run starts at once (a run that came earlier has waited)."""


class Started(msgspec.Struct, frozen=True, tag="started"):
    """Run `id` has begun on `device`; sent again when it had to move (an accelerator out of memory)."""

    id: int
    device: str


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """Run `id` is done."""

    id: int
    report: Report


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """Run `id` gave no report: `code` for programs, `message` for the learner, `field` names the parameter at fault."""

    id: int
    code: Literal["invalid", "unknown-lab", "cancelled", "crashed", "out-of-memory", "timeout", "no-device", "error"]
    message: Message
    field: str = ""


class Log(msgspec.Struct, frozen=True, tag="log"):
    """Something worth a line in the log (never shown as a result)."""

    text: str


Reply = Hello | Devices | Ready | Started | Progress | Partial | Finished | Failed | Log

_ENCODER = msgspec.msgpack.Encoder()
_LENGTH = struct.Struct(">I")
_OPENING = PREAMBLE[:-2]  # the same in every version of the protocol
_LONGEST_LINE = 200


class FramingError(ValueError):
    """The stream is not an engine's: a frame too large, or bytes that are no message."""


class ProtocolMismatch(FramingError):
    """The other side is an engine, but speaks the protocol version `theirs`."""

    def __init__(self, theirs: int) -> None:
        super().__init__(f"the engine speaks protocol {theirs}, this side {PROTOCOL}")
        self.theirs = theirs


def encode(message: msgspec.Struct) -> bytes:
    """Return one frame; raise FramingError when the message is larger than a frame may be."""
    body = _ENCODER.encode(message)
    if len(body) > LARGEST_FRAME:
        raise FramingError(f"a message of {len(body):,} bytes is larger than {LARGEST_FRAME:,}")
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Turns a stream of bytes, in pieces of any size, into messages of one kind.

    With `preamble=True` everything before `PREAMBLE` is skipped as noise and its last line kept in `noise`.
    """

    def __init__(self, kind: Any, *, preamble: bool) -> None:
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()
        self._waiting = preamble
        self.noise = ""

    def feed(self, data: bytes) -> Iterator[Any]:
        """Add `data` and yield the messages it completes; raise FramingError when the stream is broken."""
        self._buffer += data
        if self._waiting and not self._skip_noise():
            return
        while len(self._buffer) >= 4:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > LARGEST_FRAME:
                raise FramingError(f"a frame of {length:,} bytes is larger than {LARGEST_FRAME:,}")
            if len(self._buffer) < 4 + length:
                return
            with memoryview(self._buffer) as frame, frame[4 : 4 + length] as body:
                message = self._decode(body)
            del self._buffer[: 4 + length]
            yield message

    def _decode(self, body: memoryview) -> Any:
        try:
            return self._decoder.decode(body)
        except msgspec.MsgspecError as error:
            raise FramingError(f"not a message: {error}") from None

    def _skip_noise(self) -> bool:
        start = self._buffer.find(_OPENING)
        end = start + len(PREAMBLE)
        opened = start >= 0 and len(self._buffer) >= end
        noise = self._buffer[: start if start >= 0 else len(self._buffer)]
        lines = noise[-_LONGEST_LINE:].decode("utf-8", "replace").strip().splitlines()
        self.noise = lines[-1] if lines else ""
        if len(noise) > LONGEST_NOISE:
            raise FramingError(f"no engine after {LONGEST_NOISE:,} bytes of other output")
        if not opened:
            return False
        if self._buffer[start:end] != PREAMBLE:
            raise ProtocolMismatch(self._buffer[start + len(_OPENING)])
        del self._buffer[:end]
        self._waiting = False
        return True
