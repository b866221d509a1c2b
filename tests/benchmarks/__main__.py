"""`python -m tests.benchmarks [ROW ...] [--rounds N]`: measures the product against its anchors (`make bench`).

Prints a table and writes `results.json`; the exit code is 1 when a row is over its budget. Product and anchor take
turns, so that a busy machine slows both; tails (p95, maxima) still suffer from whatever else runs.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from rich.console import Console

from tests.benchmarks.row import Row
from tests.benchmarks.table import show, write

FAMILIES = ("startup", "keys", "heatmap", "painting", "step", "cancel", "call", "memory", "idle")


def main(words: list[str]) -> int:
    """Measure the families asked for, or all."""
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"which of: {', '.join(FAMILIES)}; all when none is named"
    )
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="measurements of each row (11)")
    options = parser.parse_args(words)
    unknown = [name for name in options.rows if name not in FAMILIES]
    if unknown:
        parser.error(f"there is no row “{unknown[0]}”; there are: {', '.join(FAMILIES)}")
    if options.rounds < 3:
        parser.error("a median needs at least 3 rounds")
    rows: list[Row] = []
    for name in options.rows or FAMILIES:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        rows += import_module(f"tests.benchmarks.{name}").measure(options.rounds)
    show(rows, Console())
    write(rows)
    over = [row.name for row in rows if not row.ok]
    print(f"{len(over)} of {len(rows)} rows over budget" + (f": {'; '.join(over)}" if over else ""))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
