"""How records lie in tables: one table per kind of record, one column per field."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any, NamedTuple, TypeVar

import msgspec

from tutor.progress.records import Answer, Position, Prediction, Record, Run, Setting, StepVisit

Kind = TypeVar("Kind", Position, StepVisit, Answer, Prediction, Run, Setting)

TABLES: dict[type[Record], str] = {
    Position: "position",
    StepVisit: "visit",
    Answer: "answer",
    Prediction: "prediction",
    Run: "run",
    Setting: "setting",
}

# What happens when the row is already there. Every rule may be applied twice with the same result.
_CONFLICTS: dict[type[Record], str] = {
    Position: "(slot) DO UPDATE SET lesson = excluded.lesson, step = excluded.step, at = excluded.at",
    StepVisit: "(lesson, step) DO UPDATE SET first_at = min(first_at, excluded.first_at), "
    "last_at = max(last_at, excluded.last_at), "
    "finished_at = coalesce(min(finished_at, excluded.finished_at), finished_at, excluded.finished_at)",
    Answer: "(uid) DO NOTHING",
    Prediction: "(uid) DO NOTHING",
    Run: "(uid) DO NOTHING",
    Setting: "(key) DO UPDATE SET value = excluded.value, at = excluded.at",
}
_NEWER_WINS = (Position, Setting)
_JSON_FIELDS = {Answer: {"answer"}, Prediction: {"answer", "actual"}, Run: {"params", "values"}, Setting: {"value"}}


class Change(NamedTuple):
    """One row to write."""

    sql: str
    row: tuple[Any, ...]


def put(record: Record) -> Change:
    """Return the change that writes what has just happened: it wins whatever the clock says."""
    return Change(_upsert(type(record), ""), _row(record))


def merge(record: Record) -> Change:
    """Return the change that writes what happened elsewhere or earlier: the newer wins."""
    return Change(_merge_sql(type(record)), _row(record))


def merge_all(source: sqlite3.Connection) -> list[Change]:
    """Return the changes that merge every row of `source` into another file."""
    return [
        Change(_merge_sql(kind), row)
        for kind, table in TABLES.items()
        for row in source.execute(f"SELECT {_columns(kind)} FROM {table}")
    ]


def select(source: sqlite3.Connection, kind: type[Kind], rest: str = "", values: Iterable[Any] = ()) -> list[Kind]:
    """Return the records of one kind; `rest` is what follows FROM (WHERE, ORDER BY, LIMIT)."""
    rows = source.execute(f"SELECT {_columns(kind)} FROM {TABLES[kind]} {rest}", tuple(values))
    return [_record(kind, row) for row in rows]


def to_json(value: Any) -> str:
    """Write a JSON value; a float that JSON cannot write becomes {"float": "nan" | "inf" | "-inf"}."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Any:
    """Read what `to_json` wrote."""
    return json.loads(text, object_hook=revive)


def plain(value: Any) -> Any:
    """Replace the floats that JSON cannot write, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def revive(item: dict[str, Any]) -> Any:
    """Turn one object that `plain` made back into its float; any other object stays."""
    return float(item["float"]) if item.keys() == {"float"} and item["float"] in ("nan", "inf", "-inf") else item


def _columns(kind: type[Record]) -> str:
    return ", ".join(f'"{name}"' for name in kind.__struct_fields__)


def _upsert(kind: type[Record], condition: str) -> str:
    places = ", ".join("?" * len(kind.__struct_fields__))
    return f"INSERT INTO {TABLES[kind]} ({_columns(kind)}) VALUES ({places}) ON CONFLICT {_CONFLICTS[kind]}{condition}"


def _merge_sql(kind: type[Record]) -> str:
    return _upsert(kind, f" WHERE excluded.at > {TABLES[kind]}.at" if kind in _NEWER_WINS else "")


def _row(record: Record) -> tuple[Any, ...]:
    json_fields = _JSON_FIELDS.get(type(record), set())
    values = ((name, getattr(record, name)) for name in record.__struct_fields__)
    return tuple(to_json(value) if name in json_fields else _cell(value) for name, value in values)


def _cell(value: Any) -> Any:
    """Write a moment so that text order is time order."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="microseconds")
    return value


def _record(kind: type[Kind], row: tuple[Any, ...]) -> Kind:
    fields = dict(zip(kind.__struct_fields__, row, strict=True))
    for name in _JSON_FIELDS.get(kind, ()):
        fields[name] = from_json(fields[name])
    if kind is Answer:
        fields["right"] = bool(fields["right"])  # SQLite has no booleans
    return msgspec.convert(fields, kind)
