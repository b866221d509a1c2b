"""Computes the lab `tokens`: vocabulary, ids, one-hots, embeddings and the bag of words, in any order of the tokens.

X   = onehot(ids) E             (T, d): look-up of rows of the table E (V, d)
bag = Σ_t onehot(id_t)          (V,)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.contract.labs.tokens import TokensParams
from engine.contract.message import say
from engine.contract.report import Column, Event, Heatmap, Invariant, Note, Panel, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, close, counted, largest, more_than, not_checked, written

SPECIALS = ("<pad>", "<unk>")


@dataclass(frozen=True)
class Sentence:
    """Tokens in one order: `ids` (T,), `onehot` (T, V), `matrix` X (T, d) and `bag` (V,), float64."""

    tokens: tuple[str, ...]
    ids: Tensor
    onehot: Tensor
    matrix: Tensor
    bag: Tensor


def run(params: TokensParams, context: Context) -> Iterator[Event]:
    """Yield the report of one sentence in the order as written and in the chosen one."""
    tokens = tokenize(params.text)
    vocabulary = build_vocabulary(tokens)
    table = context.word_vectors(list(vocabulary), params.width)  # (V, d)
    order = _order(params.order, len(tokens), context)
    original = read_sentence(tokens, vocabulary, table)
    shown = read_sentence([tokens[i] for i in order], vocabulary, table)
    panels = _panels(original, shown, vocabulary, table, params.order)
    invariants = tuple(_invariants(original, shown, vocabulary, table, params.order))
    yield Report(tuple(panels), _values(original, shown), invariants)


def build_vocabulary(tokens: Iterable[str]) -> dict[str, int]:
    """Return the id of every token: the specials first, then the distinct tokens in sorted order."""
    return {token: number for number, token in enumerate((*SPECIALS, *sorted(set(tokens) - set(SPECIALS))))}


def read_sentence(tokens: Iterable[str], vocabulary: dict[str, int], table: Tensor) -> Sentence:
    """Return what a network reads of the tokens, with the rows of `table` (V, d) as embeddings."""
    words = tuple(tokens)
    ids = torch.tensor([vocabulary[token] for token in words])  # (T,)
    onehot = F.one_hot(ids, len(vocabulary)).to(table.dtype)  # (T, V)
    return Sentence(words, ids, onehot, onehot @ table, onehot.sum(0))


def _order(order: str, count: int, context: Context) -> list[int]:
    if order == "shuffled":
        return [int(i) for i in torch.randperm(count, generator=context.generator("order"))]
    return list(range(count))[:: -1 if order == "reversed" else 1]


def _panels(
    original: Sentence, shown: Sentence, vocabulary: dict[str, int], table: Tensor, order: str
) -> Iterator[Panel]:
    if order != "original" and shown.tokens == original.tokens:
        yield Note("same", say("In this order the tokens read as they did before: the matrix cannot differ."))
    yield _token_table(shown)
    yield _matrix_panel("matrix", shown)
    yield _bag_table(original, shown, vocabulary)
    if order != "original":
        yield _matrix_panel("written", original)
    yield Heatmap(
        "onehot",
        say("One-hot rows, (T, V)"),
        array(shown.onehot),
        tuple(axis_labels(list(shown.tokens))),
        tuple(vocabulary),
        say("tokens"),
        say("vocabulary"),
        0.0,
        1.0,
    )
    columns = (Column(say("id"), "d"), Column(say("token")), *_number_columns(table.shape[1]))
    rows = tuple((number, token, *table[number].tolist()) for token, number in vocabulary.items())
    yield Table("embedding", say("Embedding table E, (V, d)"), columns, rows)


def _token_table(shown: Sentence) -> Table:
    columns = (Column(say("token")), Column(say("id"), "d"), Column(say("one-hot")), Column(say("vector")))
    rows = zip(shown.tokens, shown.ids.tolist(), map(_digits, shown.onehot), map(written, shown.matrix), strict=True)
    return Table("tokens", say("Token, id, one-hot, vector"), columns, tuple(rows))


def _digits(onehot: Tensor) -> str:
    return "".join(str(int(number)) for number in onehot.tolist())


def _matrix_panel(id: str, sentence: Sentence) -> Heatmap:
    bound = largest(sentence.matrix)
    title = say("Sentence matrix X, (T, d)") if id == "matrix" else say("Sentence matrix X of the tokens as written")
    return Heatmap(
        id,
        title,
        array(sentence.matrix),
        tuple(axis_labels(list(sentence.tokens))),
        counted("x", sentence.matrix.shape[1]),
        say("tokens"),
        say("features"),
        -bound,
        bound,
        "diverging",
    )


def _bag_table(original: Sentence, shown: Sentence, vocabulary: dict[str, int]) -> Table:
    columns = (
        Column(say("token")),
        Column(say("id"), "d"),
        Column(say("count, as written"), "d"),
        Column(say("count, in this order"), "d"),
    )
    rows = tuple(
        (token, number, int(original.bag[number].item()), int(shown.bag[number].item()))
        for token, number in vocabulary.items()
    )
    return Table("bag", say("Bag of words, (V,)"), columns, rows)


def _number_columns(width: int) -> tuple[Column, ...]:
    return tuple(Column(say("dim {number}", number=i + 1), ".3f") for i in range(width))


def _values(original: Sentence, shown: Sentence) -> dict[str, Scalar]:
    """What the order changes: the bag, the matrix; `rows_reversed` is true when X has its rows in reverse order."""
    return {
        "tokens": len(shown.tokens),
        "types": len(set(shown.tokens)),
        "vocabulary_size": len(shown.bag),
        "ids": [float(number) for number in shown.ids.tolist()],
        "bag": shown.bag.tolist(),
        "row_sum": shown.matrix.sum(0).tolist(),
        "bag_changes": not torch.equal(shown.bag, original.bag),
        "matrix_changes": not torch.equal(shown.matrix, original.matrix),
        "rows_reversed": torch.equal(shown.matrix, original.matrix.flip(0)),
    }


def _invariants(
    original: Sentence, shown: Sentence, vocabulary: dict[str, int], table: Tensor, order: str
) -> Iterator[Invariant]:
    yield close(say("one-hots times E are exactly the rows of E"), shown.matrix - table[shown.ids], 0.0)
    yield close(say("the bag is exactly the same in every order"), shown.bag - original.bag, 0.0)
    yield close(say("the sum of the rows of X is the bag times E"), shown.matrix.sum(0) - shown.bag @ table, 1e-12)
    numbers = torch.tensor(list(vocabulary.values()))
    yield close(say("the ids are 0 … V−1"), (numbers - torch.arange(len(numbers))).double(), 0.0)
    again = build_vocabulary(reversed(shown.tokens))
    moved = sum(again[token] != number for token, number in vocabulary.items())
    yield close(say("the ids do not depend on the order of the tokens"), float(moved), 0.0)
    if order == "original":
        return
    differs = say("the matrix X of another order differs")
    if shown.tokens == original.tokens:
        yield not_checked(differs, say("the order of the tokens is the same"))
    else:
        yield more_than(differs, largest(shown.matrix - original.matrix), 0.0)
    if order == "reversed":
        name = say("reversed tokens give exactly the rows of X in reverse order")
        yield close(name, shown.matrix - original.matrix.flip(0), 0.0)
