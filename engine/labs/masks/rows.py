"""The masks of the lab, and the weights that equal scores become under them.

textbook    softmax(scores where the mask is True, else the fill)
engine      the same with −∞, but a row without any open key is all zeros (`engine.layers.attention`)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from engine.contract.labs.masks import FILL_LABELS, FILLS, MasksParams
from engine.contract.message import Message, say
from engine.contract.report import Cell, Column, Detail, Heatmap, Invariant, Scalar, Table
from engine.labs.base import array, close
from engine.layers.attention import masked_softmax

DTYPES = {"float16": torch.float16, "float32": torch.float32, "float64": torch.float64}
TOLERANCES = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}
SHOWN_SENTENCE = 1  # of the batch: the first one has no padding to show
LABELS = {**dict(zip(FILLS, FILL_LABELS, strict=True)), "engine": say("zeros afterwards, as in the engine")}
KINDS = {"uniform": say("uniform"), "nan": say("NaN"), "zeros": say("zeros"), "no fit": say("does not fit")}


def kept_tokens(batch: int) -> Tensor:
    """Return which tokens are real in a batch of sentences of batch, batch − 1, … 1 tokens, (batch, batch)."""
    return torch.ones(batch, batch, dtype=torch.bool).tril().flip(0)


def mask(params: MasksParams) -> Tensor:
    """Return the mask of the shown sentence, (n, n), True = may attend."""
    n = params.n
    allowed = torch.ones(n, n, dtype=torch.bool)
    if params.kind == "blocked-row":
        allowed[-1] = False
    if params.kind in ("causal", "both"):
        allowed = allowed.tril(params.k - 1)  # k = 0 blocks the diagonal too
    if params.kind in ("padding", "both"):
        kept = kept_tokens(n)
        # (B, T) against scores (B, heads, T, T): row i of the mask meets query i, whatever sentence it belongs to.
        allowed = allowed & (kept if params.shape == "naive" else kept[SHOWN_SENTENCE][None])
    return allowed


def fill_value(fill: str, dtype: torch.dtype) -> float:
    """Return the number that blocked scores become."""
    if fill == "finfo.min":
        return torch.finfo(dtype).min
    return float(fill)


def textbook(scores: Tensor, allowed: Tensor, fill: str) -> Tensor:
    """Return the weights of masked_fill and softmax, shape of the scores."""
    return scores.masked_fill(~allowed, fill_value(fill, scores.dtype)).softmax(-1)


def outcome(row: Tensor) -> str:
    """Say what a blocked row of weights became: "nan", "zeros" or "uniform"."""
    if row.isnan().any():
        return "nan"
    return "zeros" if not row.any() else "uniform"


def panels(params: MasksParams, allowed: Tensor) -> Iterator[Heatmap | Table]:
    """Yield the mask, the weights of equal scores under it, and what becomes of a blocked row."""
    labels = tuple(str(i + 1) for i in range(params.n))
    queries, keys = say("queries"), say("keys")
    scores = torch.zeros(params.n, params.n, dtype=DTYPES[params.dtype])
    taught, ours = textbook(scores, allowed, params.fill).double(), masked_softmax(scores, allowed).double()
    yield Heatmap("mask", say("Mask: 1 = may attend"), array(allowed.double()), labels, labels, queries, keys, 0.0, 1.0)
    title = say("Weights of equal scores, blocked ones {fill}", fill=LABELS[params.fill])
    details = (Detail(say("in the engine"), array(ours)),)
    yield Heatmap(
        "weights", title, array(taught), labels, labels, queries, keys, 0.0, 1.0, group="weights", details=details
    )
    yield Heatmap(
        "engine", say("Weights in the engine"), array(ours), labels, labels, queries, keys, 0.0, 1.0, group="weights"
    )
    yield _blocked_table(params)


def _blocked_table(params: MasksParams) -> Table:
    rows: list[tuple[Cell, ...]] = [(LABELS[fill], KINDS[kind]) for fill, kind in blocked_outcomes(params).items()]
    title = say("What a row without any open key becomes, in {dtype}", dtype=params.dtype)
    return Table("blocked", title, (Column(say("blocked scores become")), Column(say("the row is"))), tuple(rows))


def blocked_outcomes(params: MasksParams) -> dict[str, str]:
    """Return what a row without any open key becomes with every fill, and in the engine."""
    dtype = DTYPES[params.dtype]
    scores, allowed = torch.zeros(1, params.n, dtype=dtype), torch.zeros(1, params.n, dtype=torch.bool)
    outcomes = {fill: outcome(textbook(scores, allowed, fill)) if fits(fill, dtype) else "no fit" for fill in FILLS}
    return {**outcomes, "engine": outcome(masked_softmax(scores, allowed))}


def fits(fill: str, dtype: torch.dtype) -> bool:
    """Tell whether a fill is a number of the format."""
    value = fill_value(fill, dtype)
    return math.isinf(value) or value >= torch.finfo(dtype).min


def values(params: MasksParams, allowed: Tensor) -> dict[str, Scalar]:
    """Return the rows of weights (with the chosen fill, `row_…`, and in the engine) and the fate of a blocked row."""
    scores = torch.zeros(params.n, params.n, dtype=DTYPES[params.dtype])
    taught, ours = textbook(scores, allowed, params.fill), masked_softmax(scores, allowed)
    found: dict[str, Scalar] = {"blocked_rows": int((~allowed.any(-1)).sum())}
    found |= {f"row_{i}": row for i, row in enumerate(taught.tolist(), start=1)}
    found |= {f"engine_row_{i}": row for i, row in enumerate(ours.tolist(), start=1)}
    names = {"-1e9": "1e9", "-inf": "inf", "finfo.min": "min", "engine": "engine"}
    found |= {f"blocked_{names[fill]}": kind for fill, kind in blocked_outcomes(params).items()}
    return found


def invariants(params: MasksParams, allowed: Tensor) -> Iterator[Invariant]:
    """Check the weights of equal and of drawn scores."""
    dtype, tolerance = DTYPES[params.dtype], TOLERANCES[params.dtype]
    scores = torch.zeros(params.n, params.n, dtype=dtype)
    taught, ours = textbook(scores, allowed, params.fill).double(), masked_softmax(scores, allowed).double()
    has_open = allowed.any(-1)  # (n,)
    yield close(say("a blocked key has weight 0 wherever some key is open"), (taught * ~allowed)[has_open], 0.0)
    yield close(say("rows with an open key sum to 1"), taught[has_open].sum(-1) - 1, tolerance)
    yield close(say("there the engine has the same weights"), (taught - ours)[has_open], tolerance)
    blocked = masked_softmax(scores, torch.zeros_like(allowed)).double()
    yield close(say("in the engine a row without any open key is all zeros"), blocked, 0.0)
    if params.kind == "causal" and params.k == 1:
        shares = 1 / torch.arange(1, params.n + 1, dtype=torch.float64)  # (n,)
        wanted = shares[:, None] * allowed
        yield close(say("causal: row i shares equally among i keys"), taught - wanted, tolerance)


def shown_message(params: MasksParams) -> Message | None:
    """Return what to say about the padding that is shown, if any."""
    if params.kind not in ("padding", "both"):
        return None
    if params.shape == "naive":
        return say("A mask (B, T) meets queries instead of sentences: with B = T = {n} nothing complains.", n=params.n)
    return say("Sentence 2 of a batch of {n}: its last token is padding.", n=params.n)
