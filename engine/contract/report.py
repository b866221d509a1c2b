"""What a lab gives back: panels to look at, values to quote, invariants that were checked.

A lab is a generator of events: `Progress` and `Partial` on the way, one `Report` at the end. Non-finite numbers are
legal data (an exploded gradient is a result).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from engine.contract.message import Message

_ITEM_SIZES = {"float64": 8, "float32": 4, "int64": 8, "bool": 1}

Scalar = bool | int | float | str | list[float]
Cell = bool | int | float | str | Message | None


class Array(msgspec.Struct, frozen=True):
    """A dense row-major array as bytes in native byte order; `dtype` is a numpy name."""

    dtype: Literal["float64", "float32", "int64", "bool"]
    shape: tuple[int, ...]
    data: bytes

    def __post_init__(self) -> None:
        """Raise ValueError when the bytes do not fill the shape."""
        expected = math.prod(self.shape) * _ITEM_SIZES[self.dtype]
        if expected != len(self.data):
            raise ValueError(f"{len(self.data)} bytes do not fill {self.dtype} {self.shape}")

    def flat(self) -> Sequence[float]:
        """Return the numbers in row-major order, without copying them."""
        raw = memoryview(self.data)
        if self.dtype == "float64":
            return raw.cast("d")
        if self.dtype == "float32":
            return raw.cast("f")
        return raw.cast("q") if self.dtype == "int64" else raw.cast("?")

    def rows(self) -> list[list[float]]:
        """Return a 2-d array as a list of its rows."""
        _, width = self.shape
        numbers = list(self.flat())
        return [numbers[start : start + width] for start in range(0, len(numbers), width)]

    def at(self, *index: int) -> float:
        """Return one element, e.g. `at(row, column)`."""
        position = 0
        for size, i in zip(self.shape, index, strict=True):
            position = position * size + i
        return float(self.flat()[position])


class Detail(msgspec.Struct, frozen=True):
    """A second matrix of the same shape whose value the cursor line shows beside the heatmap's own."""

    name: Message
    values: Array


class Heatmap(msgspec.Struct, frozen=True, tag="heatmap"):
    """A matrix as colours: rows are queries (or time), columns keys (or units).

    `minimum` and `maximum` are the ends of the colour scale; a diverging scale is symmetric about 0.
    """

    id: str
    title: Message
    values: Array
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_axis: Message
    column_axis: Message
    minimum: float
    maximum: float
    scale: Literal["sequential", "diverging"] = "sequential"
    group: str = ""
    details: tuple[Detail, ...] = ()


class Series(msgspec.Struct, frozen=True):
    """One curve: its y for every x of the panel; a gap is NaN."""

    name: Message
    y: Array


class Curves(msgspec.Struct, frozen=True, tag="curves"):
    """Curves over a common x."""

    id: str
    title: Message
    x: Array
    series: tuple[Series, ...]
    x_label: Message
    y_label: Message
    log_x: bool = False
    log_y: bool = False
    group: str = ""


class Bars(msgspec.Struct, frozen=True, tag="bars"):
    """One bar per label; labels are data (tokens) or messages."""

    id: str
    title: Message
    labels: tuple[str | Message, ...]
    values: Array
    value_label: Message
    group: str = ""


class Column(msgspec.Struct, frozen=True):
    """A table column; `format` is the format specification of its numbers (".4f", ".1%", ",d")."""

    title: Message
    format: str = ""


class Table(msgspec.Struct, frozen=True, tag="table"):
    """A table; numbers are right-aligned and written with their column's format."""

    id: str
    title: Message
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    group: str = ""


class Note(msgspec.Struct, frozen=True, tag="note"):
    """A sentence about the result."""

    id: str
    text: Message
    group: str = ""


Panel = Heatmap | Curves | Bars | Table | Note


class Invariant(msgspec.Struct, frozen=True):
    """A statement checked on this run; `holds` is None when it does not apply, and `detail` says why."""

    name: Message
    holds: bool | None
    detail: Message


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """How far a run has come: a fraction of 1, what it is doing, and the seconds left when they are known."""

    fraction: float
    text: Message
    seconds_left: float | None = None
    id: int = 0


class Partial(msgspec.Struct, frozen=True, tag="partial"):
    """Panels that can be shown before the run is over."""

    panels: tuple[Panel, ...]
    id: int = 0


class Report(msgspec.Struct, frozen=True, tag="report"):
    """The result of a run. `values` are what lessons quote and predictions are compared with.

    What follows the invariants says which run it was; `params` are plain values. A notebook shows a report as HTML.
    """

    panels: tuple[Panel, ...]
    values: dict[str, Scalar]
    invariants: tuple[Invariant, ...] = ()
    device: str = "cpu"
    seconds: float = 0.0
    seed: int = 0
    lab: str = ""
    params: dict[str, Any] = {}

    def panel(self, id: str) -> Panel:
        """Return the panel called `id`; raise KeyError when there is none."""
        for panel in self.panels:
            if panel.id == id:
                return panel
        raise KeyError(id)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain values, the same that `tutor run --json` prints, in English."""
        from engine.contract.json import report_json  # it needs this module

        return report_json(self.lab, self.params, self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from engine.contract.html import report_html

        return report_html(self)


Event = Progress | Partial | Report
