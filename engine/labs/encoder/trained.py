"""The trained encoder: two pre-norm layers of four heads and width 32 that have learned to judge reviews (SENT)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.report import Event
from engine.labs.base import Context
from engine.labs.encoder.model import Classifier, Reader, Shape
from engine.layers.start import embedding
from engine.tasks.draws import Draws
from engine.tasks.sentiment import Review, draw_reviews, vocabulary
from engine.tasks.vocabulary import PAD, Vocabulary
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

SHAPE = Shape(width=32, heads=4, layers=2, expansion=2, positions="learned", norm="pre")
STD = 0.1
LENGTH = 24
REVIEWS, TESTED = 2000, 500
EPOCHS, BATCH, RATE = 8, 64, 5e-3
STEPS_PER_EPOCH = -(-REVIEWS // BATCH)

Batch = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Trained:
    """A classifier after its training, and the test reviews with their tokens (500, n) and verdicts (500,)."""

    model: Classifier
    vocabulary: Vocabulary
    reviews: Sequence[Review]
    tokens: Tensor
    positive: Tensor

    @property
    def kept(self) -> Tensor:
        """True for the real tokens of the test reviews, (500, n)."""
        return self.tokens != PAD


_kept: dict[tuple[str, int], Trained] = {}


def trained(language: str, context: Context) -> Generator[Event, None, Trained]:
    """Yield the progress of the training and return its result; the same language and seed are trained once."""
    key = (language, context.seed)
    if key not in _kept:
        result = yield from _train(language, context)
        while len(_kept) >= 8:
            _kept.pop(next(iter(_kept)))
        _kept[key] = result
    return _kept[key]


def _train(language: str, context: Context) -> Generator[Event, None, Trained]:
    words = vocabulary(language)
    reviews = draw_reviews(Draws(context.generator("reviews")), language, REVIEWS, test=False)
    tokens, positive = _tensors(words, reviews)
    generator = context.generator("classifier")
    table = embedding(len(words), SHAPE.width, std=STD, generator=generator)
    model = Classifier(Reader(table, SHAPE, LENGTH, generator, std=STD), generator)

    def loss(batch: Batch) -> Loss:
        batch_tokens, kept, wanted = batch
        logits, _ = model(batch_tokens, kept)
        return classification(logits, wanted)

    def draw(number: int) -> list[Batch]:
        epoch, position = divmod(number - 1, STEPS_PER_EPOCH)
        order = torch.randperm(REVIEWS, generator=context.generator(f"epoch {epoch}"))
        chosen = order[position * BATCH : (position + 1) * BATCH]
        return [(tokens[chosen], tokens[chosen] != PAD, positive[chosen])]

    optimiser = AdamW(model.parameters(), weight_decay=0.01)
    trainer = Trainer(model, loss, optimiser, constant(RATE), clip=clipped_at(1.0))
    yield from train([trainer], draw, EPOCHS * STEPS_PER_EPOCH, check=context.check)
    model.eval()
    tested = draw_reviews(Draws(context.generator("test reviews")), language, TESTED, test=True)
    return Trained(model, words, tested, *_tensors(words, tested))


def _tensors(words: Vocabulary, reviews: Sequence[Review]) -> tuple[Tensor, Tensor]:
    tokens = words.encode([review.words for review in reviews])  # (reviews, longest)
    return tokens, torch.tensor([int(review.positive) for review in reviews])
