"""What an earlier start worked out and this one reads in a millisecond: course, lessons, the first lines of prose.

A convenience, never a truth. Every entry lies under a digest of all it was made from (its inputs, our own files that
made it, the installed packages), so that a changed lesson or a changed tutor finds nothing; a file that is missing,
damaged or cannot be written costs time and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

KEPT = 64
_DIGEST = 16
_MAKERS = ("course", "text", "text/formula", "i18n", "i18n/zh")


class StartCache:
    """The entries of `file`, the latest `KEPT` of them; without a file nothing is found and nothing kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._changed = False

    def recall(self, kind: type[T], *made_from: object) -> T | None:
        """Return the value of type `kind` that was made from these inputs, or None."""
        key = self._key(kind, made_from)
        encoded = self._entries.pop(key, None)
        if encoded is None:
            return None
        self._entries[key] = encoded  # the latest used stands last
        with suppress(msgspec.MsgspecError):
            return msgspec.msgpack.decode(encoded, type=kind)
        return None

    def keep(self, kind: type[T], value: T, *made_from: object) -> None:
        """Remember a value under what it was made from; `save` writes it."""
        if self._file is None:
            return
        self._entries[self._key(kind, made_from)] = msgspec.msgpack.encode(value)
        while len(self._entries) > KEPT:
            del self._entries[next(iter(self._entries))]
        self._changed = True

    def save(self) -> None:
        """Write what is new."""
        if self._file is None or not self._changed:
            return
        self._changed = False
        body = msgspec.msgpack.encode(self._entries)
        unfinished = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.write_bytes(_digest(body) + body)
            unfinished.replace(self._file)
            return
        with suppress(OSError):  # on a full disk the part that found room would stay for ever
            unfinished.unlink()

    @cached_property
    def _entries(self) -> dict[bytes, bytes]:
        if self._file is not None:
            with suppress(OSError, msgspec.MsgspecError):
                data = self._file.read_bytes()
                if _digest(data[_DIGEST:]) == data[:_DIGEST]:
                    return msgspec.msgpack.decode(data[_DIGEST:], type=dict[bytes, bytes])
        return {}

    def _key(self, kind: Any, made_from: tuple[object, ...]) -> bytes:
        return _digest(repr((self._makers, str(kind), made_from)).encode("utf-8", "surrogatepass"))

    @cached_property
    def _makers(self) -> tuple[object, ...]:
        """What stands for the code that makes the entries: our files, this Python, the packages beside msgspec."""
        packages = os.path.dirname(os.path.dirname(msgspec.__file__))
        return sys.version, _modified(packages), *_files_of(os.path.dirname(__file__))


def _files_of(package: str) -> Iterator[tuple[str, int, int]]:
    for folder in _MAKERS:
        with suppress(OSError), os.scandir(os.path.join(package, folder)) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".toml")):
                    found = entry.stat()
                    yield entry.name, found.st_mtime_ns, found.st_size


def _modified(folder: str) -> int:
    with suppress(OSError):
        return os.stat(folder).st_mtime_ns
    return 0


def _digest(data: bytes) -> bytes:
    from hashlib import blake2b  # brings OpenSSL; most commands digest nothing

    return blake2b(data, digest_size=_DIGEST).digest()
