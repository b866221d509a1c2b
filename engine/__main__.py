"""Runs the engine: `python -m engine [--gpu-memory SIZE]`; its stdin and stdout are the talk with a front end."""

from __future__ import annotations

import os
import sys


def _protect_the_path() -> None:
    """Stop looking for modules in the current folder, where a learner's random.py may lie.

    The folder that holds `engine` may be the same one; it comes last, behind the library's own modules.
    """
    current = os.getcwd()
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != current]
    if home not in sys.path:
        sys.path.append(home)


def main() -> None:
    """Read the arguments and be an engine until stdin closes."""
    if sys.platform == "win32":
        sys.exit("The engine runs on Linux and macOS; on Windows, run tutor inside WSL.")
    _protect_the_path()
    gpu_memory = None
    if len(sys.argv) > 1:
        gpu_memory = _gpu_memory()
    if os.isatty(0):
        sys.exit("The engine talks to tutor, not to a person: start `tutor`, or `tutor --engine 'python -m engine'`.")
    from engine.host import serve

    serve(gpu_memory=gpu_memory)


def _gpu_memory() -> int | None:
    import argparse

    from engine.contract.sizes import read_size

    def size(text: str) -> int:
        try:
            return read_size(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    parser = argparse.ArgumentParser(prog="python -m engine", allow_abbrev=False)
    parser.add_argument("--gpu-memory", type=size, metavar="SIZE", help="take up to this much of a GPU, e.g. 4GiB")
    taken: int | None = parser.parse_args().gpu_memory
    return taken


if __name__ == "__main__":
    main()
