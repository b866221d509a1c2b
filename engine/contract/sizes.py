"""Amounts of memory as people write them."""

from __future__ import annotations

import re

GIB = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": GIB, "T": 1 << 40}


def read_size(text: str) -> int:
    """Return the bytes of "4GiB", "512M" or "1000000"; raise ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise ValueError(f"“{text}” is no amount of memory; write it like 4GiB or 512MiB")
    return int(float(found[1]) * _UNITS[found[2].upper()])
