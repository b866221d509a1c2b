"""Computes the lab `sdpa`: softmax(Q Kᵀ / (τ √d_k)) V, step by step, and the entropy of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.sdpa import CAFE_WEIGHTS, CAFE_WORDS, SdpaParams
from engine.contract.message import Message, say
from engine.contract.report import Column, Detail, Event, Heatmap, Invariant, Note, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, close, counted, entropy, entropy_in_range, equal, largest, rows_sum_to_one
from engine.layers.attention import AttentionTrace, attend

EMBEDDING_WIDTH = 16
ASKS = {"zh": ("哪里？", "做什么？"), "en": ("where?", "doing what?")}


@dataclass(frozen=True)
class Case:
    """Queries (n, d_k), keys (m, d_k), values (m, d_v), float64, and what their rows are called."""

    query: Tensor
    key: Tensor
    value: Tensor
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    columns: tuple[Message, ...] = ()


def run(params: SdpaParams, context: Context) -> Iterator[Event]:
    """Yield the report of one attention computation."""
    case = _case(params, context)
    scale = 1 / math.sqrt(case.query.shape[-1]) if params.scale else 1.0
    output, trace = attend(case.query, case.key, case.value, scale=scale, temperature=params.temperature)
    _, unscaled = attend(case.query, case.key, case.value, scale=1.0, temperature=params.temperature)
    panels: list[Panel] = [
        _weights_panel(case, trace),
        _steps_table(case, trace, unscaled),
        _entropy_table(case, trace),
        _scores_panel(case, trace),
        _matrix_table("output", say("Output"), output, case.query_labels, ()),
        _matrix_table("queries", say("Queries Q"), case.query, case.query_labels, case.columns),
        _matrix_table("keys", say("Keys K"), case.key, case.key_labels, case.columns),
        _matrix_table("values", say("Values V"), case.value, case.key_labels, ()),
    ]
    values = _values(output, trace, unscaled)
    if params.mode == "cafe":
        given_panels, given_values = _given(case.key_labels)
        panels = given_panels + panels
        values |= given_values
    yield Report(tuple(panels), values, tuple(_invariants(case, output, trace, scale, params.temperature)))


def _case(params: SdpaParams, context: Context) -> Case:
    if params.mode == "own-sentence":
        tokens = tokenize(params.sentence)
        labels = tuple(axis_labels(tokens))
        embeddings = context.word_vectors(tokens, EMBEDDING_WIDTH)  # (n, width)
        weights = context.normal("weights", 3, EMBEDDING_WIDTH, params.d_k) / math.sqrt(EMBEDDING_WIDTH)
        query, key, value = embeddings @ weights  # each (n, d_k), entries of variance about 1
        return Case(query, key, value, labels, labels)
    query, key, value = (torch.tensor(rows, dtype=torch.float64) for rows in params.matrices())
    if params.mode == "hand-case":
        return Case(query, key, value, counted("q", len(query)), counted("k", len(key)))
    asks = counted("q", len(query)) if params.queries else ASKS[context.language]
    return Case(query, key, value, asks, CAFE_WORDS[context.language], (say("place"), say("activity")))


def _weights_panel(case: Case, trace: AttentionTrace) -> Heatmap:
    return Heatmap(
        "weights",
        say("Attention weights"),
        array(trace.weights),
        case.query_labels,
        case.key_labels,
        say("queries"),
        say("keys"),
        0.0,
        1.0,
        details=(Detail(say("q·k"), array(trace.products)), Detail(say("score"), array(trace.scores))),
    )


def _scores_panel(case: Case, trace: AttentionTrace) -> Heatmap:
    bound = largest(trace.scores) or 1.0
    return Heatmap(
        "scores",
        say("Scores"),
        array(trace.scores),
        case.query_labels,
        case.key_labels,
        say("queries"),
        say("keys"),
        -bound,
        bound,
        "diverging",
        details=(Detail(say("q·k"), array(trace.products)),),
    )


def _steps_table(case: Case, trace: AttentionTrace, unscaled: AttentionTrace) -> Table:
    """The four steps for the first query, one key per row."""
    rows = zip(
        case.key_labels,
        trace.products[0].tolist(),
        trace.scores[0].tolist(),
        trace.weights[0].tolist(),
        unscaled.weights[0].tolist(),
        strict=True,
    )
    columns = (
        Column(say("key")),
        Column(say("q·k"), ".4f"),
        Column(say("score"), ".4f"),
        Column(say("weight"), ".4f"),
        Column(say("weight without √d_k"), ".4f"),
    )
    return Table("steps", say("Step by step for the query {query}", query=case.query_labels[0]), columns, tuple(rows))


def _entropy_table(case: Case, trace: AttentionTrace) -> Table:
    rows = entropy(trace.weights)
    columns = (Column(say("query")), Column(say("entropy"), ".4f"), Column(say("effective tokens"), ".3f"))
    cells = zip(case.query_labels, rows.tolist(), rows.exp().tolist(), strict=True)
    return Table(
        "entropy",
        say("Entropy of each row (at most ln {n} = {bound:.4f})", n=len(case.key), bound=math.log(len(case.key))),
        columns,
        tuple(cells),
    )


def _matrix_table(
    id: str, title: Message, matrix: Tensor, labels: tuple[str, ...], names: tuple[Message, ...]
) -> Table:
    heads = names or tuple(say("dim {number}", number=i + 1) for i in range(matrix.shape[1]))
    columns = (Column(say("row")), *(Column(head, ".3f") for head in heads))
    return Table(id, title, columns, tuple((label, *row) for label, row in zip(labels, matrix.tolist(), strict=True)))


def _values(output: Tensor, trace: AttentionTrace, unscaled: AttentionTrace) -> dict[str, Scalar]:
    weights = trace.weights[0]
    ordered = weights.sort(descending=True).values.tolist()
    row_entropy = entropy(weights).item()
    return {
        "weights": weights.tolist(),
        "largest_weight": ordered[0],
        "second_weight": ordered[1] if len(ordered) > 1 else 0.0,
        "scores": trace.scores[0].tolist(),
        "output": output[0].tolist(),
        "entropy": row_entropy,
        "effective_tokens": math.exp(row_entropy),
        "uniform_entropy": math.log(len(weights)),
        "weights_unscaled": unscaled.weights[0].tolist(),
    }


def _given(words: tuple[str, ...]) -> tuple[list[Panel], dict[str, Scalar]]:
    """The seven numbers someone gave as weights: their sum, the row they become, logits that reproduce it."""
    given = torch.tensor(CAFE_WEIGHTS, dtype=torch.float64)
    normalised = given / given.sum()
    logits = given.log()  # softmax(ln w) = w / Σw
    reproduced = torch.softmax(logits, dim=-1)
    row_entropy = entropy(normalised).item()
    columns = (
        Column(say("word")),
        Column(say("given"), ".2f"),
        Column(say("normalised"), ".4f"),
        Column(say("logit ln w"), ".4f"),
        Column(say("softmax of the logits"), ".4f"),
    )
    rows = zip(words, CAFE_WEIGHTS, normalised.tolist(), logits.tolist(), reproduced.tolist(), strict=True)
    total = given.sum().item()
    note = say(
        "The given numbers sum to {total:.2f}, so no softmax made them; divided by it they are a row of weights.",
        total=total,
    )
    panels: list[Panel] = [
        Note("sum", note),
        Table("given", say("The seven given numbers"), columns, tuple(rows)),
    ]
    values: dict[str, Scalar] = {
        "given_sum": total,
        "normalised": normalised.tolist(),
        "normalised_largest": normalised.max().item(),
        "entropy": row_entropy,
        "effective_tokens": math.exp(row_entropy),
        "uniform_entropy": math.log(len(given)),
    }
    return panels, values


def _invariants(
    case: Case, output: Tensor, trace: AttentionTrace, scale: float, temperature: float
) -> Iterator[Invariant]:
    """Check the statements of the lesson; tolerances grow with the size of the scores and values they compare."""
    score_size = max(1.0, largest(trace.scores))
    size = score_size * max(1.0, largest(case.value))
    yield rows_sum_to_one(trace.weights)
    yield entropy_in_range(trace.weights)
    constant = torch.full_like(case.value, 3.0)
    yield equal(
        say("equal values give that value as output"), trace.weights @ constant, constant[:1].expand_as(output), 1e-12
    )
    shifted = torch.softmax(trace.scores + 3.0, dim=-1)
    yield close(
        say("adding a constant to a row of scores changes no weight"), shifted - trace.weights, 1e-12 * score_size
    )
    query, key, value = (tensor[None, None] for tensor in (case.query, case.key, case.value))
    reference = F.scaled_dot_product_attention(query, key, value, scale=scale / temperature)[0, 0]
    yield close(say("equals torch's scaled_dot_product_attention"), reference - output, 1e-12 * size)
    order = torch.arange(len(case.key)).flip(0)
    permuted, _ = attend(case.query, case.key[order], case.value[order], scale=scale, temperature=temperature)
    yield close(say("permuting keys and values together changes nothing"), permuted - output, 1e-12 * size)
