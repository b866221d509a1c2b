"""How two runs of a lab on different devices are compared, and with which parameters they are quick."""

from __future__ import annotations

import math
from typing import Any

from engine.contract import labs as declared
from engine.contract.kinds import Integer
from engine.contract.parameters import kinds
from engine.contract.report import Curves, Heatmap, Panel, Report


def quick_parameters(name: str) -> dict[str, Any]:
    """Return the fewest training steps a lab takes; nothing for a lab that does not train."""
    lab = declared.declaration(name)
    if not lab.trains:
        return {}
    declared_kinds = kinds(lab.parameters)
    return {
        field: kind.minimum for field, kind in declared_kinds.items() if field == "steps" and isinstance(kind, Integer)
    }


def agreement(one: Report, other: Report) -> float:
    """Return the largest relative difference of two runs.

    A training run is compared at its start: later, rounding has grown into another run with the same statistics.
    """
    assert [panel.id for panel in one.panels] == [panel.id for panel in other.panels]
    trains = declared.declaration(one.lab).trains
    worst = 0.0
    for ours, theirs in zip(one.panels, other.panels, strict=True):
        pairs = zip(_numbers(ours, trains), _numbers(theirs, trains), strict=True)
        worst = max([worst, *(_difference(a, b) for a, b in pairs)])
    if not trains:
        assert one.values.keys() == other.values.keys()
        for key, value in one.values.items():
            worst = max(
                [worst, *(_difference(a, b) for a, b in zip(_flat(value), _flat(other.values[key]), strict=True))]
            )
    return worst


def _numbers(panel: Panel, trains: bool) -> list[float]:
    if isinstance(panel, Curves):
        return [float(y) for series in panel.series for y in (series.y.flat()[:1] if trains else series.y.flat())]
    return [float(x) for x in panel.values.flat()] if isinstance(panel, Heatmap) and not trains else []


def _flat(value: Any) -> list[float]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [float(item) for item in values if isinstance(item, (int, float))]


def _difference(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    return abs(one - other) / max(1.0, abs(other))
