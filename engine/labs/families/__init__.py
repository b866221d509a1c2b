"""Computes the lab `families`: one text as BERT, GPT and T5 learn from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.labs.families import SPECIAL, FamiliesParams, span_problems
from engine.contract.message import say
from engine.contract.report import Cell, Column, Detail, Event, Heatmap, Invariant, Report, Scalar, Table
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context, array, close
from engine.labs.families.examples import (
    BOS,
    KEPT,
    MASKED,
    REPLACED,
    BertExample,
    GptExample,
    T5Example,
    bert_example,
    gpt_example,
    number_chosen,
    restored,
    t5_example,
)
from engine.labs.families.visibility import dependence, rule

TREATMENTS = {MASKED: say("masked"), REPLACED: say("another word"), KEPT: say("left as it is")}


@dataclass(frozen=True)
class Examples:
    """The same words as each family learns from them."""

    words: list[str]
    bert: BertExample
    gpt: GptExample
    t5: T5Example

    def supervised(self, family: str) -> int:
        """Return how many positions have a target."""
        return {"BERT": len(self.bert.chosen), "GPT": len(self.gpt.targets), "T5": len(self.t5.target)}[family]

    def read_and_said(self, family: str) -> tuple[list[str], list[str]]:
        """Return the inputs of the one stack, or of T5's encoder and decoder."""
        if family == "T5":
            return self.t5.source, self.t5.decoder_inputs
        return (self.bert.inputs if family == "BERT" else self.gpt.inputs), []


def run(params: FamiliesParams, context: Context) -> Iterator[Event]:
    """Yield what the chosen family may see, its training example, and how many positions each family is taught at."""
    words = tokenize(params.text)
    spans = _spans(params, len(words), context)
    examples = Examples(
        words,
        bert_example(words, params.mask_rate, context.generator("masking")),
        gpt_example(words),
        t5_example(words, spans),
    )
    read, said = examples.read_and_said(params.family)
    allowed = rule(params.family, len(read), len(said))
    depends = dependence(params.family, len(read), len(said), context)
    panels = (
        _picture(read, said, allowed, depends),
        _example_table(params.family, examples),
        _counts_table(examples),
    )
    values = _values(params, examples) | {"visible_pairs": int(allowed.sum())}
    yield Report(panels, values, tuple(_invariants(params, examples, allowed, depends)))


def _spans(params: FamiliesParams, count: int, context: Context) -> list[tuple[int, int]]:
    """Return the given spans, or one as long as the mask rate says where there are none that fit."""
    if params.spans and not list(span_problems(params.spans, count)):
        return [(int(start), int(end)) for start, end in params.spans]
    length = number_chosen(params.mask_rate, count)
    start = int(torch.randint(count - length + 1, (), generator=context.generator("span")))
    return [(start, start + length)]


def _picture(read: Sequence[str], said: Sequence[str], allowed: Tensor, depends: Tensor) -> Heatmap:
    labels = tuple(axis_labels([*read, *said]))
    title = say("Who may see whom: the encoder's tokens, then the decoder's") if said else say("Who may see whom")
    return Heatmap(
        "visibility",
        title,
        array(allowed.double()),
        labels,
        labels,
        say("positions"),
        say("what they see"),
        0.0,
        1.0,
        details=(Detail(say("dependence"), array(depends)),),
    )


def _example_table(family: str, examples: Examples) -> Table:
    columns: tuple[Column, ...]
    rows: Iterator[tuple[Cell, ...]]
    if family == "BERT":
        bert = examples.bert
        columns = tuple(map(Column, (say("text"), say("input"), say("to predict"), say("what was done"))))
        done = (TREATMENTS[treatment] if treatment else None for treatment in bert.treatment)
        rows = zip(bert.tokens, bert.inputs, bert.labels, done, strict=True)
    elif family == "GPT":
        columns = tuple(map(Column, (say("input"), say("target"))))
        rows = zip(examples.gpt.inputs, examples.gpt.targets, strict=True)
    else:
        t5 = examples.t5
        columns = tuple(map(Column, (say("stack"), say("tokens"))))
        lines = (
            (say("encoder reads"), t5.source),
            (say("decoder reads"), t5.decoder_inputs),
            (say("target"), t5.target),
        )
        rows = ((name, " ".join(tokens)) for name, tokens in lines)
    return Table("example", say("A training example of {family}", family=family), columns, tuple(rows))


def _counts_table(examples: Examples) -> Table:
    rows = tuple(
        (family, task, examples.supervised(family), examples.supervised(family) / len(examples.words))
        for family, task in (
            ("BERT", say("fill in what is hidden")),
            ("GPT", say("say the next token")),
            ("T5", say("say what the spans were")),
        )
    )
    columns = (
        Column(say("family")),
        Column(say("task")),
        Column(say("positions with a target"), "d"),
        Column(say("per token of the text"), ".2f"),
    )
    return Table("counts", say("What one text of {count} tokens teaches", count=len(examples.words)), columns, rows)


def _values(params: FamiliesParams, examples: Examples) -> dict[str, Scalar]:
    """Counts of all families; `independent_…` are the chances if every token were chosen by itself."""
    count, chosen = len(examples.words), len(examples.bert.chosen)
    rate = params.mask_rate
    treatments = [treatment for treatment in examples.bert.treatment if treatment]
    return {
        "tokens": count,
        "supervised_bert": chosen,
        "supervised_gpt": len(examples.gpt.targets),
        "supervised_gpt_without_bos": len(examples.gpt.targets) - 1,
        "supervised_t5": len(examples.t5.target),
        "expected_bert": rate * count,
        "independent_same": math.comb(count, chosen) * rate**chosen * (1 - rate) ** (count - chosen),
        "independent_none": (1 - rate) ** count,
        "masked": treatments.count(MASKED),
        "replaced": treatments.count(REPLACED),
        "kept": treatments.count(KEPT),
        "bert_input": " ".join(examples.bert.inputs),
        "gpt_input": " ".join(examples.gpt.inputs),
        "t5_input": " ".join(examples.t5.source),
        "t5_target": " ".join(examples.t5.target),
    }


def _invariants(params: FamiliesParams, examples: Examples, allowed: Tensor, depends: Tensor) -> Iterator[Invariant]:
    count = len(examples.words)
    wrong = int(((depends > 0) != allowed).sum())
    yield close(say("an output depends on exactly what the picture lets it see"), wrong, 0)
    bert = examples.bert
    expected = number_chosen(params.mask_rate, count)
    yield close(say("BERT: as many labels as max(1, round(rate · T))"), len(bert.chosen) - expected, 0)
    special = sum(bool(SPECIAL.fullmatch(bert.tokens[position])) for position in bert.chosen)
    changed = sum(
        before != after and label is None
        for before, after, label in zip(bert.tokens, bert.inputs, bert.labels, strict=True)
    )
    yield close(say("BERT: no special token is chosen, and only chosen ones change"), special + changed, 0)
    gpt = examples.gpt
    moved = sum(one != other for one, other in zip(gpt.inputs[1:], gpt.targets, strict=False))
    yield close(say("GPT: the targets are the inputs moved by one, from {bos} on", bos=BOS), moved, 0)
    yield close(say("GPT: every token is a target"), len(gpt.targets) - count, 0)
    lost = 0 if restored(examples.t5) == examples.words else 1
    yield close(say("T5: input and target together give the text back"), lost, 0)
