"""Answers every line on stdin with `SIZE` bytes on stdout: what a pipe costs without any protocol."""

from __future__ import annotations

import os

SIZE = 41_472
"""The bytes of the weights of 12 heads in 6 layers over 12 tokens, float32."""


def main() -> None:
    """Serve until stdin closes."""
    answer = bytes(SIZE)
    while os.read(0, 64):
        view = memoryview(answer)
        while view:
            view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
