"""Reading a report in a test, with the types a test expects."""

from __future__ import annotations

from engine.contract.report import Heatmap, Report, Table


def number(report: Report, name: str) -> float:
    """Return a value that is one number."""
    value = report.values[name]
    assert isinstance(value, (int, float))
    return value


def numbers(report: Report, name: str) -> list[float]:
    """Return a value that is a list."""
    value = report.values[name]
    assert isinstance(value, list)
    return value


def heatmap(report: Report, id: str) -> Heatmap:
    """Return a panel that is a heatmap."""
    panel = report.panel(id)
    assert isinstance(panel, Heatmap)
    return panel


def table(report: Report, id: str) -> Table:
    """Return a panel that is a table."""
    panel = report.panel(id)
    assert isinstance(panel, Table)
    return panel


def failed(report: Report) -> list[str]:
    """Return the names of the invariants that do not hold."""
    return [str(invariant.name) for invariant in report.invariants if invariant.holds is False]
