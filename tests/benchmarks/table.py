"""The rows as a table for people and as JSON for comparing runs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.row import Row

RESULTS = Path(__file__).parent / "results.json"
_PACKAGES = ("textual", "rich", "plotext", "torch", "numpy", "msgspec", "markdown-it-py", "pylatexenc")


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(title="Product against anchor, measured in turn", title_justify="left")
    for head, justify in (("what", "left"), ("product", "right"), ("anchor", "right"), ("ratio", "right")):
        table.add_column(head, justify=justify)  # type: ignore[arg-type]
    table.add_column("budget", justify="right")
    table.add_column("")
    for row in rows:
        verdict = "[green]ok[/]" if row.ok else "[bold red]over[/]"
        what = f"{row.name}\n[dim]{row.against}[/]" if row.against else row.name
        for claim, holds in row.claims:
            what += f"\n[dim]{'✓' if holds else '✗'} {claim}[/]"
        bound = row.budget is not None or row.limit is not None or bool(row.claims)
        table.add_row(
            what,
            _figure(row.product, row),
            _figure(row.anchor, row),
            _ratio(row.ratio),
            _budget(row),
            verdict if bound else "–",
        )
    console.print(table)


def _figure(value: float, row: Row) -> str:
    digits = 0 if value >= 100 or row.unit == "bytes" else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {row.unit}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"1/{1 / max(value, 1e-9):.0f}"


def _budget(row: Row) -> str:
    parts = []
    if row.budget is not None:
        parts.append(f"≤ {_ratio(row.budget)}")
    if row.limit is not None:
        parts.append(f"≤ {row.limit:,.0f} {row.unit}")
    return "\n".join(parts)


def write(rows: Sequence[Row], path: Path = RESULTS) -> None:
    """Write the rows and the machine they were measured on."""
    machine = {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "packages": {name: version(name) for name in _PACKAGES},
    }
    body = {"schema": 1, "machine": machine, "rows": [{**asdict(row), "ok": row.ok} for row in rows]}
    path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", "utf-8")
