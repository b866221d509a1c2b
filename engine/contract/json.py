"""Reports as plain JSON values: what `tutor run --json` prints and `Report.to_dict()` returns (schema 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine.contract.message import Message
from engine.contract.report import Array, Panel, Report

SCHEMA = 1
Translate = Callable[[Message], str]


def report_json(lab: str, params: Mapping[str, Any], report: Report, translate: Translate = str) -> dict[str, Any]:
    """Return the JSON object of one run; NaN and infinities become the strings "nan", "inf", "-inf"."""
    return {
        "schema": SCHEMA,
        "lab": lab,
        "params": _plain(params, translate),
        "device": report.device,
        "seed": report.seed,
        "seconds": round(report.seconds, 6),
        "values": _plain(report.values, translate),
        "invariants": [_plain(invariant, translate) for invariant in report.invariants],
        "panels": [panel_json(panel, translate) for panel in report.panels],
    }


def panel_json(panel: Panel, translate: Translate = str) -> dict[str, Any]:
    """Return one panel with its kind first."""
    fields = {name: _plain(getattr(panel, name), translate) for name in panel.__struct_fields__}
    return {"kind": panel.__struct_config__.tag, **fields}


def error_json(code: str, message: str, field: str = "") -> dict[str, Any]:
    """Return the JSON object of a failure."""
    return {"schema": SCHEMA, "error": {"code": code, "message": message, "field": field or None}}


def _plain(value: Any, translate: Translate) -> Any:
    """Turn a report's values into what `json.dumps` writes without surprises."""
    if isinstance(value, Message):
        return translate(value)
    if isinstance(value, Array):
        return _array(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, translate) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, translate) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name), translate) for name in value.__struct_fields__}
    return value


def _array(array: Array) -> Any:
    numbers: list[Any] = [x if not isinstance(x, float) or math.isfinite(x) else str(x) for x in array.flat()]
    for size in reversed(array.shape[1:]):
        numbers = [numbers[start : start + size] for start in range(0, len(numbers), size)] if size else []
    return numbers
