"""What the trained classifier makes of the test reviews and of the learner's own, and where its first layer looks."""

from __future__ import annotations

from collections import Counter

import torch

from engine.contract.message import say
from engine.contract.report import Column, Note, Scalar, Table
from engine.contract.reviews import WORDS
from engine.labs.encoder.look import Look
from engine.labs.encoder.model import Classifier
from engine.labs.encoder.trained import Trained
from engine.labs.encoder.view import View
from engine.tasks.sentiment import KINDS
from engine.tasks.vocabulary import PAD

MOST_WORDS = 8


def view(look: Look) -> View:
    """Return accuracies, the verdict on the review and the words that draw the attention of layer 1; else nothing."""
    if look.trained is None:
        return View()
    accuracy = accuracies(look.trained, look.trained.model)
    with torch.no_grad():
        logits, _ = look.trained.model(look.tokens[None], look.tokens[None] != PAD)  # (1, 2)
    positive = torch.softmax(logits[0], dim=-1)[1].item()
    verdict = say("positive") if positive > 0.5 else say("negative")
    note = say(
        "The classifier calls the review {verdict} (probability of positive {positive:.3f}); "
        "of {count} test reviews it judges {accuracy:.1%} right.",
        verdict=verdict,
        positive=positive,
        count=len(look.trained.reviews),
        accuracy=accuracy["all"],
    )
    peaks = _peaks(look, look.trained)
    values: dict[str, Scalar] = {
        "positive": positive > 0.5,
        "probability_positive": positive,
        "accuracy": accuracy["all"],
        **{f"accuracy_{kind}": accuracy[kind] for kind in KINDS},
        **peaks.values,
    }
    return View((Note("verdict", note), *peaks.panels), values)


@torch.no_grad()
def accuracies(trained: Trained, model: Classifier) -> dict[str, float]:
    """Return the share of right verdicts on the test reviews, "all" and of each kind."""
    logits, _ = model(trained.tokens, trained.kept)  # (500, 2)
    right = (logits.argmax(-1) == trained.positive).double()  # (500,)
    kinds = [review.kind for review in trained.reviews]
    chosen = {kind: torch.tensor([found == kind for found in kinds]) for kind in KINDS}
    return {"all": right.mean().item(), **{kind: right[of_kind].mean().item() for kind, of_kind in chosen.items()}}


@torch.no_grad()
def _peaks(look: Look, trained: Trained) -> View:
    """Count, over the test reviews of two clauses, the word that gets most of the attention of layer 1."""
    words = WORDS[look.language]
    _, trace = trained.model(trained.tokens, trained.kept)
    by_query = trace.blocks[0].attention.weights.mean(1)  # (500, n, n), mean of the heads
    received = (by_query * trained.kept[:, :, None]).sum(1)  # (500, n), from real queries alone
    peaks = received.argmax(-1).tolist()
    contrasts = [
        (review.words, peak) for review, peak in zip(trained.reviews, peaks, strict=True) if review.kind == "contrast"
    ]
    counted = Counter(sentence[peak] for sentence, peak in contrasts)
    holding = Counter(word for sentence, _ in contrasts for word in set(sentence))
    columns = (
        Column(say("word")),
        Column(say("reviews with it"), "d"),
        Column(say("it gets most attention in"), "d"),
        Column(say("share"), ".0%"),
    )
    ranked = sorted(counted, key=lambda word: (-counted[word], words.all.index(word)))
    rows = tuple((word, holding[word], counted[word], counted[word] / holding[word]) for word in ranked[:MOST_WORDS])
    title = say(
        "Where the head-mean map of layer 1 peaks, in {count} test reviews of two clauses", count=len(contrasts)
    )
    values: dict[str, Scalar] = {
        "peak_word": ranked[0],
        "peak_share_but": counted[words.but] / holding[words.but],
        "peak_share_although": counted[words.although] / holding[words.although],
    }
    return View((Table("peaks", title, columns, rows),), values)
