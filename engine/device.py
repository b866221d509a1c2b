"""Where a run computes: the devices there are, the choice among them, and manners on a shared machine.

`auto` is the CUDA device with most free memory among those CUDA_VISIBLE_DEVICES shows, else MPS, else the CPU.
Importing this module does not import torch.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from typing import Literal

from engine.contract.message import Message, say
from engine.contract.protocol import Device
from engine.contract.sizes import GIB

SHARED_LIMIT = 2 * GIB
SHARED_PART = 0.10


class NoDevice(LookupError):
    """Raised for a device that cannot be used; `message` says why and what can."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


def found() -> tuple[Device, ...]:
    """Return the devices of this machine with their free memory, the CPU first."""
    devices = [_cpu()]
    try:
        import torch
    except ImportError:
        return tuple(devices)
    if torch.cuda.is_available():
        devices += filter(None, map(_cuda, range(torch.cuda.device_count())))
    elif torch.backends.mps.is_available():
        total = torch.mps.recommended_max_memory()
        devices.append(Device("mps", "Apple", total, total))
    return tuple(devices)


def preferred(devices: Sequence[Device]) -> str:
    """Return what `auto` means: the CUDA device with most free memory, else "mps", else "cpu"."""
    cuda = [device for device in devices if device.id.startswith("cuda")]
    if cuda:
        return max(cuda, key=lambda device: device.free).id
    return "mps" if any(device.id == "mps" for device in devices) else "cpu"


def choose(asked: str, runs_on: Literal["cpu", "any"], devices: Sequence[Device]) -> str:
    """Return the device a run takes: "cpu", "cuda:N" or "mps". Raises NoDevice.

    A device that does not exist is refused even where the lab would stay on the CPU: a slip must not pass unnoticed.
    """
    there = tuple(device.id for device in devices)
    if asked == "auto":
        wanted = preferred(devices)
    elif asked == "cuda":
        cuda = [device for device in devices if device.id.startswith("cuda")]
        wanted = preferred(cuda) if cuda else "cuda"
    else:
        wanted = asked
    if wanted != "cpu" and wanted not in there:
        raise NoDevice(_refusal(asked, there))
    return "cpu" if runs_on == "cpu" else wanted


def prepare(device: str, gpu_memory: int | None) -> None:
    """Before a run on `device`: take at most `gpu_memory` bytes of it, by default the share that leaves room for
    others."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.set_device(device)
        free, total = torch.cuda.mem_get_info(device)
        limit = min(gpu_memory, total) if gpu_memory else shared_limit(free + torch.cuda.memory_reserved(device))
        torch.cuda.set_per_process_memory_fraction(limit / total, device)
    elif device == "mps" and gpu_memory:
        whole = torch.mps.recommended_max_memory()
        torch.mps.set_per_process_memory_fraction(min(1.0, gpu_memory / whole))


def shared_limit(free: int) -> int:
    """Return how many bytes of a card with `free` bytes are ours to take unasked."""
    return min(SHARED_LIMIT, int(SHARED_PART * free))


def too_large(needed: int) -> Message | None:
    """Return why a run that needs so many bytes must not begin on this machine, None when it may."""
    free = _cpu().free
    if needed <= free:
        return None
    return say(
        "This needs about {needed:.1f} GiB of memory, but {free:.1f} GiB are free; choose smaller parameters.",
        needed=needed / GIB,
        free=free / GIB,
    )


def out_of_memory(error: BaseException) -> bool:
    """Tell whether `error` says that a device or the machine has no memory left for a tensor."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "not enough memory" in text or "out of memory" in text
    )


def release(device: str) -> None:
    """Give back what an interrupted run still holds on `device`."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()


def _refusal(asked: str, there: tuple[str, ...]) -> Message:
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", asked):
        return say("There is no device “{device}”; choose auto, cpu, cuda, cuda:N or mps.", device=asked[:40])
    return say(
        "There is no device {device} on the engine's machine; it has: {devices}.",
        device=asked,
        devices=", ".join(there),
    )


def _cuda(index: int) -> Device | None:
    import torch

    try:
        free, total = torch.cuda.mem_get_info(index)
    except RuntimeError:  # taken exclusively, or broken: not ours to use
        return None
    return Device(f"cuda:{index}", torch.cuda.get_device_name(index), free, total)


def _cpu() -> Device:
    page = os.sysconf("SC_PAGE_SIZE")
    total = page * os.sysconf("SC_PHYS_PAGES")
    try:
        free = page * os.sysconf("SC_AVPHYS_PAGES")
    except ValueError:  # macOS does not say
        free = total
    return Device("cpu", platform.machine(), free, total)
