"""Which sentences are kept for the test: a fifth, chosen by their letters alone, in every process alike."""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def held_out(words: Sequence[str]) -> bool:
    """Tell whether a sentence belongs to the test: crc32 of it divides by 5."""
    return zlib.crc32(" ".join(words).encode()) % 5 == 0
