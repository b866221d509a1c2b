"""A row of the table: what the product costs, what its anchor costs in the same run, and what the ratio may be."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["ms", "bytes", "MiB", "% of a core", "µs"]


@dataclass(frozen=True)
class Row:
    """Product, anchor and ratio of one run. `ratio` is the median of paired ratios, not the ratio of medians.

    `budget` bounds the ratio and `limit` the product itself, in `unit`; None does not bind. `claims` must hold too.
    """

    name: str
    product: float
    anchor: float
    ratio: float
    unit: Unit
    budget: float | None = None
    limit: float | None = None
    against: str = ""
    claims: tuple[tuple[str, bool], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the row keeps its budget."""
        within = self.budget is None or self.ratio <= self.budget
        below = self.limit is None or self.product <= self.limit
        return within and below and all(holds for _, holds in self.claims)


def paired(
    name: str,
    product: Sequence[float],
    anchor: Sequence[float],
    unit: Unit,
    *,
    budget: float | None = None,
    limit: float | None = None,
    against: str = "",
) -> Row:
    """Return the row of measurements made in turn: medians, and the median of the ratios of neighbours."""
    ratio = statistics.median(mine / max(theirs, 1e-12) for mine, theirs in zip(product, anchor, strict=True))
    return Row(name, statistics.median(product), statistics.median(anchor), ratio, unit, budget, limit, against)


def single(
    name: str,
    product: float,
    anchor: float,
    unit: Unit,
    *,
    budget: float | None = None,
    limit: float | None = None,
    against: str = "",
    claims: tuple[tuple[str, bool], ...] = (),
) -> Row:
    """Return the row of two figures that were each measured as a whole, such as percentiles."""
    return Row(name, product, anchor, product / max(anchor, 1e-12), unit, budget, limit, against, claims)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
