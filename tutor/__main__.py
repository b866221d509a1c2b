"""The command `tutor`, also as `python -m tutor`. Everything it does lives in `tutor.cli`, one file per command."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from tutor.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # while that was being imported
        return 130


def _leave_the_folder() -> None:
    """Stop looking for modules in the current folder: `python -m` puts it first, and a random.py may lie there."""
    import os.path

    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not getattr(sys.flags, "safe_path", False) and sys.path and os.path.abspath(sys.path[0]) != home:
        del sys.path[0]


if __name__ == "__main__":
    _leave_the_folder()
    sys.exit(main())
