"""The heads of one layer on a sentence: their maps, or which slices of the input each of them reads.

Every word has a fixed vector, so that the text matters and the same word always gets the same one. The projections
start as nn.MultiheadAttention's; biases stand in W_O only, the convention in which the designs are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.contract.labs.heads import MOST_HEADS, HeadsParams
from engine.contract.message import say
from engine.contract.parameters import divisors_up_to
from engine.contract.report import Column, Detail, Heatmap, Invariant, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import (
    Context,
    array,
    at_most,
    close,
    entropy,
    entropy_in_range,
    largest,
    more_than,
    not_checked,
    rows_sum_to_one,
)
from engine.labs.heads.rank import numerical_rank, parameter_count
from engine.layers.multi_head import MultiHeadAttention, MultiHeadTrace
from engine.layers.positional import sinusoidal
from engine.layers.shared_slice import SharedSliceAttention

Design = MultiHeadAttention | SharedSliceAttention


@dataclass(frozen=True)
class Look:
    """A sentence seen by one layer: its tokens, their vectors (n, width), the layer and its trace (heads, n, …)."""

    tokens: list[str]
    embeddings: Tensor
    layer: Design
    trace: MultiHeadTrace


def _look(params: HeadsParams, context: Context) -> Look:
    tokens = tokenize(params.sentence)
    embeddings = context.word_vectors(tokens, params.embed_size)  # (n, width)
    if params.position:
        embeddings = embeddings + sinusoidal(len(tokens), params.embed_size)
    generator = context.generator("weights")
    layer: Design
    if params.projection == "full":
        layer = MultiHeadAttention(
            params.embed_size, params.heads, bias=False, generator=generator, dtype=torch.float64
        )
    else:
        layer = SharedSliceAttention(params.embed_size, params.heads, generator=generator, dtype=torch.float64)
    context.check()
    with torch.no_grad():
        _, trace = layer(embeddings)
    context.check()
    return Look(tokens, embeddings, layer, trace)


def sentence_report(params: HeadsParams, context: Context) -> Report:
    look = _look(params, context)
    values = _sentence_values(params, look)
    invariants = list(_map_checks(params, look, context))
    panels: list[Panel] = []
    if params.panel == "maps":
        panels += [_map(look, head) for head in range(params.heads)]
    else:
        scope = _scope(look, context)
        panels.append(_scope_panel(scope, params))
        values |= _scope_values(scope)
        invariants.append(_scope_check(scope, params))
    panels += [_heads_table(look), _parameters_table(params)]
    return Report(tuple(panels), values, tuple(invariants))


def _map(look: Look, head: int) -> Heatmap:
    labels = tuple(axis_labels(look.tokens))
    details = (
        Detail(say("q·k"), array(look.trace.products[head])),
        Detail(say("score"), array(look.trace.scores[head])),
    )
    return Heatmap(
        f"head-{head + 1}",
        say("Head {head}", head=head + 1),
        array(look.trace.weights[head]),
        labels,
        labels,
        say("queries"),
        say("keys"),
        0.0,
        1.0,
        group="heads",
        details=details,
    )


def _heads_table(look: Look) -> Table:
    columns = (
        Column(say("head"), "d"),
        Column(say("entropy"), ".4f"),
        Column(say("largest weight"), ".4f"),
        Column(say("diagonal share"), ".1%"),
        Column(say("rank of the scores"), "d"),
    )
    rows = tuple(
        (
            head + 1,
            entropy(weights).mean().item(),
            weights.max().item(),
            weights.diagonal().mean().item(),
            numerical_rank(look.trace.scores[head]),
        )
        for head, weights in enumerate(look.trace.weights)
    )
    return Table("heads", say("The heads (entropy: mean over the queries)"), columns, rows)


def _parameters_table(params: HeadsParams) -> Table:
    full, sliced, torch_count = _parameter_counts(params.embed_size, params.heads)
    rows = (
        (say("each head reads the whole input, bias in W_O only"), full),
        (say("each head reads its slice, bias in W_O only"), sliced),
        (say("nn.MultiheadAttention, all biases"), torch_count),
    )
    return Table(
        "parameters", say("Numbers to learn"), (Column(say("design")), Column(say("parameter count"), ",d")), rows
    )


def _parameter_counts(width: int, heads: int) -> tuple[int, int, int]:
    """Count the weights of both designs and of torch's layer, built without memory on the meta device."""
    full = MultiHeadAttention(width, heads, bias=False, device="meta")
    sliced = SharedSliceAttention(width, heads, device="meta")
    return (
        parameter_count(full),
        parameter_count(sliced),
        parameter_count(nn.MultiheadAttention(width, heads, device="meta")),
    )


def _sentence_values(params: HeadsParams, look: Look) -> dict[str, Scalar]:
    full, sliced, torch_count = _parameter_counts(params.embed_size, params.heads)
    by_head = entropy(look.trace.weights).mean(-1)  # (heads,)
    return {
        "parameters": full if params.projection == "full" else sliced,
        "parameters_slice": sliced,
        "parameters_torch": torch_count,
        "entropy_mean": by_head.mean().item(),
        "entropy_min": by_head.min().item(),
        "entropy_max": by_head.max().item(),
        "uniform_entropy": math.log(len(look.tokens)),
        "n_tokens": len(look.tokens),
        "d_k": params.embed_size // params.heads,
    }


def _map_checks(params: HeadsParams, look: Look, context: Context) -> Iterator[Invariant]:
    yield rows_sum_to_one(look.trace.weights)
    yield entropy_in_range(look.trace.weights)
    distinct = len(look.tokens) if params.position else len(set(look.tokens))
    rank = max(numerical_rank(scores) for scores in look.trace.scores)
    name = say("the rank of a head's scores is at most min(distinct tokens, d_k)")
    yield at_most(name, rank, min(distinct, params.embed_size // params.heads))
    name = say("the number of weights does not depend on the number of heads")
    if params.projection == "full":
        counts = {_parameter_counts(params.embed_size, a)[0] for a in divisors_up_to(params.embed_size, MOST_HEADS)}
        yield close(name, max(counts) - min(counts), 0.0)
    else:
        yield not_checked(name, say("with shared slices more heads have fewer weights"))
    again = _look(params, context)
    yield close(say("the same parameters give the same picture"), again.trace.weights - look.trace.weights, 0.0)


def _scope(look: Look, context: Context) -> Tensor:
    """Return how much head i's map changes when slice j of the input is drawn anew, (heads, heads)."""
    heads, width = len(look.trace.weights), look.embeddings.shape[1]
    noise = context.normal("scope", *look.embeddings.shape)
    scope = torch.empty(heads, heads, dtype=torch.float64)
    for j in range(heads):
        context.check()
        changed = look.embeddings.clone()
        dims = slice(j * width // heads, (j + 1) * width // heads)
        changed[:, dims] = noise[:, dims]
        with torch.no_grad():
            _, trace = look.layer(changed)
        scope[:, j] = (trace.weights - look.trace.weights).abs().amax((-2, -1))
    return scope


def _scope_panel(scope: Tensor, params: HeadsParams) -> Heatmap:
    width = params.embed_size // params.heads
    return Heatmap(
        "scope",
        say("How much a head's map changes with a slice of the input"),
        array(scope),
        tuple(str(head + 1) for head in range(params.heads)),
        tuple(f"{i * width + 1}–{(i + 1) * width}" for i in range(params.heads)),
        say("heads"),
        say("dims of the input"),
        0.0,
        largest(scope) or 1.0,
    )


def _scope_values(scope: Tensor) -> dict[str, Scalar]:
    if len(scope) == 1:
        return {"scope_off_diagonal_max": math.nan, "head_1_sees_rest": False}
    off_diagonal = scope - scope.diagonal().diag()
    return {"scope_off_diagonal_max": largest(off_diagonal), "head_1_sees_rest": bool(scope[0, 1:].max() > 0)}


def _scope_check(scope: Tensor, params: HeadsParams) -> Invariant:
    if params.projection == "full":
        return more_than(say("every head reads every slice"), scope.min().item(), 0.0)
    name = say("no head reads another head's slice")
    if params.heads == 1:
        return not_checked(name, say("there is only one head"))
    return close(name, scope - scope.diagonal().diag(), 0.0)
