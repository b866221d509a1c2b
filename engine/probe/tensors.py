"""Reads tensors out of a file's bytes, without running anything that the file says.

.npy .npz      numpy's own reader, pickled objects refused
.safetensors   numbers and a header, nothing else can be in it
.pt .pth .bin  torch.load with weights_only: tensors in dictionaries and lists; any other object is refused
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.contract.message import say
from engine.probe.refusal import Refused

MOST_TENSORS = 10_000
MOST_BYTES = 1 << 30  # that a compressed file may grow to


def read(file: str, data: bytes) -> dict[str, Tensor]:
    """Return the tensors of a file by name; one without a name is called as the file. Raises Refused."""
    kind = PurePath(file).suffix.lower()
    shown = PurePath(file).name
    readers = {".npy": _npy, ".npz": _npz, ".safetensors": _safetensors, ".pt": _torch, ".pth": _torch, ".bin": _torch}
    if kind not in readers:
        raise Refused(say("{file} is none of: {kinds}.", file=shown, kinds=", ".join(readers)))
    if not data:
        raise Refused(say("{file} is empty.", file=shown))
    try:
        found = readers[kind](shown, data)
    except (Refused, MemoryError):
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
        raise Refused(
            say("{file} is damaged, or no {kind} file: {reason}", file=shown, kind=kind, reason=reason)
        ) from None
    if not found:
        raise Refused(say("{file} holds no tensor.", file=shown))
    if len(found) > MOST_TENSORS:
        raise Refused(
            say(
                "{file} holds {count:,} tensors; at most {most:,} are read.",
                file=shown,
                count=len(found),
                most=MOST_TENSORS,
            )
        )
    return found


def _npy(file: str, data: bytes) -> dict[str, Tensor]:
    return {PurePath(file).stem: _from_numpy(file, _plain(file, io.BytesIO(data)))}


def _npz(file: str, data: bytes) -> dict[str, Tensor]:
    _check_size(file, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return {
            name.removesuffix(".npy"): _from_numpy(file, _plain(file, io.BytesIO(archive.read(name)))) for name in names
        }


def _safetensors(file: str, data: bytes) -> dict[str, Tensor]:
    from safetensors.torch import load

    return dict(sorted(load(data).items()))  # the file itself is ordered by type


def _torch(file: str, data: bytes) -> dict[str, Tensor]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        _check_size(file, data)
    try:
        loaded = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except pickle.UnpicklingError as error:
        reason = str(error).replace("\n", " ")
        named = reason.partition("GLOBAL ")[2].split(" ")[0] or reason[:120]
        raise Refused(
            say(
                "{file} holds objects besides tensors ({what}), and loading those could run code; save a state dict.",
                file=file,
                what=named,
            )
        ) from None
    return dict(_flat(loaded, ""))


def _flat(thing: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors in a nest of dictionaries and lists, their names joined by dots."""
    if isinstance(thing, Tensor):
        yield name or "tensor", thing.detach()
    elif isinstance(thing, Mapping):
        for key, item in thing.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(thing, (list, tuple)):
        for number, item in enumerate(thing):
            yield from _flat(item, f"{name}.{number}" if name else str(number))


def _plain(file: str, stream: io.BytesIO) -> np.ndarray[Any, Any]:
    """Read one array; pickled objects are refused with the reason."""
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    _, _, dtype = header(stream)
    if dtype.hasobject:
        message = say(
            "{file} holds Python objects, which are pickled, and loading a pickle could run code; save numbers.",
            file=file,
        )
        raise Refused(message)
    stream.seek(0)
    array: np.ndarray[Any, Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _from_numpy(file: str, array: np.ndarray[Any, Any]) -> Tensor:
    native = array.astype(array.dtype.newbyteorder("="))
    if native.dtype.kind not in "biufc":
        raise Refused(say("{file} holds {dtype}, which are no numbers.", file=file, dtype=str(array.dtype)))
    if native.dtype.kind == "u" and native.dtype.itemsize > 1:
        native = native.astype(np.float64 if native.dtype.itemsize == 8 else np.int64)  # torch 2.4 has few unsigned
    if native.dtype.name in ("float128", "longdouble", "complex256"):
        native = native.astype(np.complex128 if native.dtype.kind == "c" else np.float64)
    return torch.from_numpy(np.ascontiguousarray(native).reshape(array.shape))


def _check_size(file: str, data: bytes) -> None:
    """Refuse a compressed file that would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_BYTES:
        raise Refused(
            say(
                "{file} unpacks to {size:.1f} GiB; at most {most:g} are taken.",
                file=file,
                size=size / 2**30,
                most=MOST_BYTES / 2**30,
            )
        )
