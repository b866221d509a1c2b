"""Attention within hash buckets: how many true neighbours it finds, how many pairs it computes, what it misses."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.long_context import LongContextParams
from engine.contract.message import say
from engine.contract.report import Column, Curves, Invariant, Report, Scalar, Series, Table
from engine.labs.base import Context, array, at_most, close, more_than
from engine.layers.attention import attend
from engine.layers.hashing import same_bucket

CLUSTERS, MEMBERS, WIDTH, NOISE = 32, 8, 32, 0.5
MOST_ROUNDS = 8


def clustered(context: Context) -> Tensor:
    """Return 256 unit vectors around 32 centres, eight a centre, (256, 32)."""
    centres = context.normal("centres", CLUSTERS, WIDTH).repeat_interleave(MEMBERS, 0)
    return F.normalize(centres + NOISE * context.normal("noise", CLUSTERS * MEMBERS, WIDTH), dim=-1)


def recall_and_pairs(vectors: Tensor, met: Tensor) -> tuple[Tensor, Tensor]:
    """Return, per round, the share of the seven nearest vectors met, and the share of all pairs computed."""
    similar = vectors @ vectors.T
    similar.fill_diagonal_(-math.inf)
    nearest = similar.topk(MEMBERS - 1).indices  # (n, 7)
    found = met.gather(2, nearest.expand(len(met), -1, -1))  # (rounds, n, 7)
    return found.double().mean((1, 2)), met.double().mean((1, 2))


def hashing_report(params: LongContextParams, context: Context) -> Report:
    """Recall and cost after each round; round r is the beginning of round r + 1."""
    vectors = clustered(context)
    rotations = context.normal("rotations", MOST_ROUNDS, WIDTH, params.buckets // 2)[: params.rounds]
    context.check()
    met = same_bucket(vectors, rotations)  # (rounds, n, n)
    recall, pairs = recall_and_pairs(vectors, met)
    context.check()
    full, _ = attend(vectors, vectors, vectors, scale=math.sqrt(WIDTH))
    errors = [_error(vectors, mask, full) for mask in met]
    rows = tuple(
        (number, found, computed, error)
        for number, (found, computed, error) in enumerate(zip(recall.tolist(), pairs.tolist(), errors, strict=True), 1)
    )
    columns = (
        Column(say("rounds"), "d"),
        Column(say("true neighbours found"), ".3f"),
        Column(say("pairs computed"), ".3f"),
        Column(say("error of the output"), ".3f"),
    )
    title = say("{count} vectors in {buckets} buckets", count=len(vectors), buckets=params.buckets)
    rounds = array(torch.arange(1, params.rounds + 1, dtype=torch.float64))
    series = (Series(say("true neighbours found"), array(recall)), Series(say("pairs computed"), array(pairs)))
    curves = Curves("recall-curve", say("Recall and cost"), rounds, series, say("rounds"), say("share"))
    values: dict[str, Scalar] = {
        "recall": recall[-1].item(),
        "recall_by_round": recall.tolist(),
        "pairs": pairs[-1].item(),
        "pairs_by_round": pairs.tolist(),
        "independent_recall": 1 - (1 - recall[0].item()) ** params.rounds,
        "error": errors[-1],
    }
    return Report((Table("recall", title, columns, rows), curves), values, tuple(_invariants(recall, pairs, met)))


def _error(vectors: Tensor, mask: Tensor, full: Tensor) -> float:
    """Return the relative error of attention that sees only the pairs of `mask`."""
    output, _ = attend(vectors, vectors, vectors, mask, scale=math.sqrt(WIDTH))
    return float((output - full).norm() / full.norm())


def _invariants(recall: Tensor, pairs: Tensor, met: Tensor) -> tuple[Invariant, ...]:
    lost = (recall[:-1] - recall[1:]).clamp(min=0)
    asymmetric = int((met != met.mT).sum())
    return (
        close(say("recall does not fall with more rounds"), lost, 0),
        close(
            say("a vector meets itself, and whom it meets meets it"),
            asymmetric + int((~met.diagonal(0, 1, 2)).sum()),
            0,
        ),
        at_most(say("recall is at most 1"), recall.max().item(), 1),
        more_than(say("what is found is more than chance"), (recall - pairs).min().item(), 0),
    )
