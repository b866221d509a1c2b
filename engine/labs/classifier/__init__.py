"""Computes the lab `classifier`: trains on reviews (SENT), tests by kind of sentence, classifies the learner's own."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from engine.contract.labs.classifier import MODEL_LABELS, MODELS, ClassifierParams, own_review
from engine.contract.message import Message, say
from engine.contract.report import (
    Column,
    Curves,
    Event,
    Heatmap,
    Invariant,
    Note,
    Panel,
    Report,
    Scalar,
    Series,
    Table,
)
from engine.contract.reviews import TypedReview
from engine.contract.tokens import axis_labels
from engine.labs.base import Context, array, at_most, not_checked
from engine.labs.classifier.learn import PADS, TESTS, Course, Judged
from engine.layers.encoder import EncoderTrace
from engine.tasks.sentiment import KINDS
from engine.tasks.vocabulary import PAD
from engine.training.curves import loss_curves
from engine.training.loop import train

KIND_LABELS = {"plain": say("plain"), "negated": say("negated"), "contrast": say("contrast")}
VERDICTS = (say("negative"), say("positive"))
LEARNED = 0.95
ORDERS = 5  # other orders of the test reviews' words that are tried


def run(params: ClassifierParams, context: Context) -> Iterator[Event]:
    """Yield the growing curves, then accuracies by kind, the confusion table and the learner's sentence."""
    review = own_review(params)
    assert isinstance(review, TypedReview)  # the parameters were checked
    course = Course(params, review.language, context)
    yield from train([course.trainer], course.batch, course.steps, check=context.check, panels=lambda: _curves(course))
    judged = course.end_epoch()
    own, probability = _own(course, review)
    panels = (*_curves(course), _kinds(course, judged), _confusion(course, judged), *own)
    values = _values(course, judged) | {"probability_positive": probability, "weights": course.trainer.weights}
    yield Report(panels, values, tuple(_invariants(course, context)))


def _curves(course: Course) -> tuple[Curves, ...]:
    loss = loss_curves([(say("loss a review"), course.trainer.losses)], course.steps)
    epochs = course.params.epochs
    accuracy = torch.full((epochs,), torch.nan, dtype=torch.float64)
    accuracy[: len(course.accuracies)] = torch.tensor(course.accuracies, dtype=torch.float64)
    label = MODEL_LABELS[MODELS.index(course.params.model)]
    tested = Curves(
        "accuracy",
        say("Accuracy on {count} reviews kept from training", count=TESTS),
        array(torch.arange(1, epochs + 1, dtype=torch.float64)),
        (Series(label, array(accuracy)), Series(say("guessing"), array(torch.full_like(accuracy, 0.5)))),
        say("epoch"),
        say("accuracy"),
    )
    return loss, tested


def _kinds(course: Course, judged: Judged) -> Table:
    rows: list[tuple[Message, int, float]] = []
    for kind in KINDS:
        right = judged.right[course.of_kind(kind)]
        rows.append((KIND_LABELS[kind], len(right), right.double().mean().item()))
    rows.append((say("all"), TESTS, judged.right.double().mean().item()))
    columns = (Column(say("kind")), Column(say("reviews"), "d"), Column(say("accuracy"), ".3f"))
    return Table("kinds", say("Accuracy by kind of sentence"), columns, tuple(rows))


def _confusion(course: Course, judged: Judged) -> Table:
    counts = [
        [int(((course.test_positive == true) & (judged.written == written)).sum()) for written in (0, 1)]
        for true in (0, 1)
    ]
    columns = (Column(say("truth")), Column(say("judged negative"), "d"), Column(say("judged positive"), "d"))
    rows = tuple((verdict, row[0], row[1]) for verdict, row in zip(VERDICTS, counts, strict=True))
    return Table("confusion", say("What was taken for what"), columns, rows)


@torch.no_grad()
def _own(course: Course, review: TypedReview) -> tuple[list[Panel], float]:
    """Return the learner's review with its verdict and the attention of every layer, and p(positive)."""
    tokens = course.words.encode([review.words])  # (1, n)
    course.model.eval()
    logits, trace = course.model(tokens, tokens != PAD)
    probability = torch.softmax(logits[0].double(), -1)[1].item()
    text = say(
        "“{review}” is {verdict}: p(positive) = {probability:.3f}.",
        review=" ".join(review.words),
        verdict=VERDICTS[int(logits[0].argmax())],
        probability=probability,
    )
    panels: list[Panel] = [Note("verdict", text)]
    longest = course.tokens.shape[1]
    if course.params.model == "learned" and len(review.words) > longest:
        panels.append(Note("length", say("No review trained on is longer than {longest} words.", longest=longest)))
    if trace is not None:
        panels += _maps(trace, axis_labels(list(review.words)))
    return panels, probability


def _maps(trace: EncoderTrace, labels: list[str]) -> list[Heatmap]:
    maps = []
    for number, block in enumerate(trace.blocks, start=1):
        weights = block.attention.weights[0]  # (heads, n, n)
        title = say("Attention of layer {layer}, mean of {heads} heads", layer=number, heads=len(weights))
        mean = array(weights.double().mean(0))
        maps.append(
            Heatmap(f"attention{number}", title, mean, tuple(labels), tuple(labels), say("query"), say("key"), 0.0, 1.0)
        )
    return maps


def _values(course: Course, judged: Judged) -> dict[str, Scalar]:
    """accuracy, accuracy_plain … by kind, those after every epoch, and the first epoch that reached .95 (or 0)."""
    reached = [number for number, share in enumerate(course.accuracies, start=1) if share >= LEARNED]
    values: dict[str, Scalar] = {
        f"accuracy_{kind}": judged.right[course.of_kind(kind)].double().mean().item() for kind in KINDS
    }
    return values | {
        "accuracy": course.accuracies[-1],
        "accuracies": list(course.accuracies),
        "epoch_learned": reached[0] if reached else 0,
        "first_loss": course.trainer.losses[0],
        "last_loss": course.trainer.losses[-1],
    }


@torch.no_grad()
def _invariants(course: Course, context: Context) -> Iterator[Invariant]:
    trained_on = {review.words for review in course.reviews}
    leaked = sum(review.words in trained_on for review in course.tested)
    yield Invariant(
        say("no test review was trained on"),
        leaked == 0,
        say("{leaked} of {count} test reviews", leaked=leaked, count=TESTS),
    )
    model = course.exact()
    tokens = course.test_tokens  # (500, n)
    logits, _ = model(tokens, tokens != PAD)  # (500, 2)
    padded = torch.nn.functional.pad(tokens, (0, PADS), value=PAD)
    size = logits.norm(dim=-1).clamp(min=1.0)  # (500,)
    moved = (model(padded, padded != PAD)[0] - logits).norm(dim=-1) / size
    yield at_most(say("padding does not change the output"), moved.max().item(), 1e-6)
    name = say("the order of the words does not change the output")
    if course.params.model in ("learned", "sinusoid"):
        yield not_checked(name, say("this model knows positions"))
        return
    worst = 0.0
    for number in range(ORDERS):
        shuffled = _shuffled(tokens, context.generator(f"order {number}"))
        moved = (model(shuffled, shuffled != PAD)[0] - logits).norm(dim=-1)
        worst = max(worst, (moved / logits.norm(dim=-1)).max().item())
    yield at_most(name, worst, 1e-5)


def _shuffled(tokens: Tensor, generator: torch.Generator) -> Tensor:
    """Return every row (n, T) with its real tokens in another order and its padding still at the end."""
    keys = torch.rand(tokens.shape, generator=generator) + (tokens == PAD) * 1.0  # padding sorts last
    return tokens.gather(-1, keys.argsort(-1))
