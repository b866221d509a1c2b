"""Computes the lab `bert-vs-gpt`: pre-trains both families side by side and compares what they can do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import torch
from torch import Tensor

from engine.contract.labs.bert_vs_gpt import BertVsGptParams, own_prompt
from engine.contract.message import say
from engine.contract.report import Bars, Cell, Column, Curves, Event, Invariant, Panel, Progress, Report, Scalar, Table
from engine.contract.reviews import TypedReview
from engine.labs.base import Context, array, close
from engine.labs.bert_vs_gpt.compare import GAPS, TESTS, Filled, by_kind, draw_gaps, fill, go_on, zero_shot
from engine.labs.bert_vs_gpt.pretrain import FAMILIES, SPECIAL, Pair
from engine.labs.bert_vs_gpt.tune import STARTS, Tuning
from engine.layers.decoding import sampled
from engine.layers.loss import IGNORED
from engine.tasks.draws import Draws
from engine.tasks.sentiment import Review, draw_reviews
from engine.training.curves import loss_curves
from engine.training.loop import train
from engine.training.losses import classification

NAMES = {"bert": say("BERT"), "gpt": say("GPT")}
PRETRAINING = 0.9  # share of the time


def run(params: BertVsGptParams, context: Context) -> Iterator[Event]:
    """Yield the two growing loss curves, then the four comparisons."""
    prompt = own_prompt(params)
    assert isinstance(prompt, TypedReview)  # the parameters were checked
    pair = Pair(params, prompt.language, context)

    def curves() -> Curves:
        lines = [
            (say("BERT, a hidden word"), pair.trainers["bert"].losses),
            (say("GPT, a next word"), pair.trainers["gpt"].losses),
        ]
        return loss_curves(lines, params.steps)

    both = train(
        list(pair.trainers.values()), pair.batch, params.steps, check=context.check, panels=lambda: (curves(),)
    )
    yield from (_within(event, 0.0, PRETRAINING) for event in both)
    tested = draw_reviews(Draws(context.generator("test reviews")), pair.language, TESTS, test=True)
    judged = zero_shot(pair, tested)
    filled = fill(pair, draw_gaps(pair))
    tuning = Tuning(pair)
    yield from (_within(event, PRETRAINING, 1.0) for event in tuning.events())
    tuned = tuning.accuracies(tested)
    written = _continuations(pair, prompt.words)
    panels: tuple[Panel, ...] = (
        curves(),
        _zero_shot_table(judged, tested),
        _fill_table(filled),
        _tuned_table(tuned, params),
        _tuned_bars(tuned, params),
        _written_table(prompt.words, written, pair),
    )
    values = _values(pair, judged, tested, filled, tuned) | {"continuation": written[0]}
    yield Report(panels, values, tuple(_invariants(pair)))


def _within(event: Event, begin: float, end: float) -> Event:
    """Return an event of one part of the run, whose progress goes from `begin` to `end`."""
    if isinstance(event, Progress):
        return msgspec.structs.replace(event, fraction=begin + (end - begin) * event.fraction)
    return event


def _continuations(pair: Pair, prompt: Sequence[str]) -> list[str]:
    limit = min(pair.params.top_k, len(pair.words)) if isinstance(pair.params.top_k, int) else None
    generator = pair.context.generator("writing")
    return go_on(pair, prompt, sampled(temperature=pair.params.temperature, top_k=limit, generator=generator))


def _share(right: Tensor) -> float:
    return right.double().mean().item()


def _zero_shot_table(judged: Mapping[str, Tensor], tested: Sequence[Review]) -> Table:
    columns = [Column(say("model")), Column(say("accuracy"), ".3f")]
    columns += [Column(label, ".3f") for label in (say("plain"), say("negated"), say("contrast"))]
    rows: list[tuple[Cell, ...]] = [
        (NAMES[family], _share(right), *by_kind(right, tested).values()) for family, right in judged.items()
    ]
    title = say("(a) Without a label: what did the audience do? {count} new reviews", count=len(tested))
    return Table("zero_shot", title, tuple(columns), tuple(rows))


def _fill_table(filled: Filled) -> Table:
    columns = (Column(say("who fills the gap")), Column(say("passes a text"), "d"), Column(say("accuracy"), ".3f"))
    rows = (
        (say("BERT, both sides"), 1, _share(filled.bert)),
        (say("GPT, going on from the left"), 1, _share(filled.gpt_prefix)),
        (say("GPT, weighing every whole sentence"), 16, _share(filled.gpt_whole)),
    )
    title = say("(c) Good or bad? The clue stands to the right of the gap; {count} texts", count=GAPS)
    return Table("fill", title, columns, rows)


def _tuned_table(tuned: Mapping[str, float], params: BertVsGptParams) -> Table:
    columns = (Column(say("model")), Column(say("accuracy"), ".3f"))
    rows = tuple((start.label, tuned[start.key]) for start in STARTS)
    title = say("(b) Tuned with {labels} labelled reviews", labels=params.labels)
    return Table("tuned", title, columns, rows)


def _tuned_bars(tuned: Mapping[str, float], params: BertVsGptParams) -> Bars:
    """Show the comparison that was asked for: the BERT against the GPT with the chosen pooling."""
    shown = [start for start in STARTS if start.family == "bert" or start.pooling == params.pooling]
    heights = torch.tensor([tuned[start.key] for start in shown], dtype=torch.float64)
    title = say("Tuned, with the chosen pooling (guessing: 0.5)")
    return Bars("tuned_bars", title, tuple(start.label for start in shown), array(heights), say("accuracy"))


def _written_table(prompt: Sequence[str], written: Sequence[str], pair: Pair) -> Table:
    beginning = (" " if pair.language == "en" else "").join(prompt)
    title = say("(d) The GPT goes on from “{prompt}”", prompt=beginning)
    return Table("written", title, (Column(say("written")),), tuple((text,) for text in written))


def _values(
    pair: Pair,
    judged: Mapping[str, Tensor],
    tested: Sequence[Review],
    filled: Filled,
    tuned: Mapping[str, float],
) -> dict[str, Scalar]:
    """zero_shot_…, fill_…, tuned_… by model, and who is better where the course asks for a prediction."""
    values: dict[str, Scalar] = {f"zero_shot_{family}": _share(right) for family, right in judged.items()}
    for family, right in judged.items():
        values |= {f"zero_shot_{family}_{kind}": share for kind, share in by_kind(right, tested).items()}
    values |= {
        "fill_bert": _share(filled.bert),
        "fill_gpt_prefix": _share(filled.gpt_prefix),
        "fill_gpt_whole": _share(filled.gpt_whole),
        "bert_fills_better": _share(filled.bert) > _share(filled.gpt_prefix),
        "gpt_judges_better": _share(judged["gpt"]) > _share(judged["bert"]),
        "weights": pair.trainers["bert"].weights,
        "loss_bert": pair.trainers["bert"].losses[-1],
        "loss_gpt": pair.trainers["gpt"].losses[-1],
    }
    return values | {f"tuned_{key}": share for key, share in tuned.items()}


def _invariants(pair: Pair) -> Iterator[Invariant]:
    bert, gpt = (pair.trainers[family] for family in FAMILIES)
    yield Invariant(
        say("both models saw the same texts in as many steps and have as many weights"),
        pair.seen["bert"] == pair.seen["gpt"] and bert.taken == gpt.taken and bert.weights == gpt.weights,
        say("{steps:,} batches compared by checksum; {weights:,} weights", steps=bert.taken, weights=bert.weights),
    )
    tokens = pair.texts[:64, :8]
    half = tokens.shape[1] // 2
    later = tokens.clone()
    later[:, half:] = (tokens[:, half:] + 1 - SPECIAL).clamp(min=0) % (len(pair.words) - SPECIAL) + SPECIAL
    with torch.no_grad():
        moved = pair.gpt(later)[:, :half] - pair.gpt(tokens)[:, :half]
    yield close(say("later words change no logits of the GPT before them"), moved, 0.0)
    yield _only_hidden(pair)
    yield Invariant(
        say("every batch hides at least one word"),
        pair.fewest_hidden >= 1,
        say("fewest in a batch: {count}", count=pair.fewest_hidden),
    )


def _only_hidden(pair: Pair) -> Invariant:
    """Ask the gradient: the loss of the BERT depends on the logits of hidden words and on no others."""
    (batch,) = pair.batch(1)
    logits = pair.bert(batch.hidden).detach().requires_grad_()
    loss = classification(logits, batch.labels).total
    (gradient,) = torch.autograd.grad(loss, logits)
    felt = gradient.abs().sum(-1) > 0  # (n, T)
    hidden = batch.labels != IGNORED
    return Invariant(
        say("the BERT's loss asks for hidden words only"),
        not bool((felt & ~hidden).any()) and math.isfinite(loss.item()),
        say("{asked} of {count} words asked for", asked=int(hidden.sum()), count=int((batch.tokens >= SPECIAL).sum())),
    )
