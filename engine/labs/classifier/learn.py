"""The classifiers and how they learn: a bag of words, or a Transformer with one kind of positions or none."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from engine.contract.labs.classifier import BATCH, REVIEWS, STEPS_PER_EPOCH, ClassifierParams
from engine.contract.tokens import MOST_TOKENS
from engine.labs.base import Context
from engine.labs.encoder.model import Classifier, Reader, Shape
from engine.layers.start import embedding
from engine.tasks.draws import Draws
from engine.tasks.sentiment import KINDS, Review, draw_reviews, vocabulary
from engine.tasks.vocabulary import PAD
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.losses import Loss, classification
from engine.training.schedules import constant, warmed_up
from engine.training.trainer import Trainer

TESTS = 500
PADS = 3  # appended to show that they change nothing
STD = {"none": 0.1, "learned": 0.1, "sinusoid": 0.5}  # of the word vectors: sines and cosines are of size 0.7

Batch = tuple[Tensor, Tensor]


class Bag(nn.Module):
    """A bag of words: every word votes for both classes, and the votes are added up."""

    def __init__(self, words: int, generator: torch.Generator) -> None:
        super().__init__()
        self.votes = embedding(words, 2, std=0.1, generator=generator)

    def forward(self, tokens: Tensor, kept: Tensor) -> tuple[Tensor, None]:
        """Return the logits (batch, 2) of reviews (batch, n); there is nothing to trace."""
        votes: Tensor = self.votes(tokens)  # (batch, n, 2)
        return votes.masked_fill(~kept[..., None], 0.0).sum(-2), None


@dataclass(frozen=True)
class Judged:
    """Verdicts on the test reviews: the class written (500,) and whether it is right (500,)."""

    written: Tensor
    right: Tensor


@dataclass
class Course:
    """One training: data of both parts, the model with its trainer, and the test accuracy after every epoch."""

    params: ClassifierParams
    language: str
    context: Context
    accuracies: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = vocabulary(self.language)
        self.reviews = draw_reviews(Draws(self.context.generator("reviews")), self.language, REVIEWS, test=False)
        self.tested = draw_reviews(Draws(self.context.generator("test reviews")), self.language, TESTS, test=True)
        self.tokens, self.positive = self._tensors(self.reviews)
        self.test_tokens, self.test_positive = self._tensors(self.tested)
        self.model = _build(self.params, len(self.words), self.context)
        rate = warmed_up(constant(self.params.lr), self.params.warmup)
        optimiser = AdamW(self.model.parameters(), weight_decay=0.01)
        self.trainer = Trainer(self.model, self.loss, optimiser, rate, clip=clipped_at(1.0), noise=self.context.seed)

    @property
    def steps(self) -> int:
        """How many steps there are in all."""
        return self.params.epochs * STEPS_PER_EPOCH

    def loss(self, batch: Batch) -> Loss:
        """Judge the model on a batch."""
        tokens, positive = batch
        logits, _ = self.model(tokens, tokens != PAD)
        return classification(logits, positive, smoothing=self.params.smoothing)

    def batch(self, number: int) -> list[Batch]:
        """Return the batch of step `number`; every epoch has an order of its own. The first of an epoch also tests."""
        epoch, position = divmod(number - 1, STEPS_PER_EPOCH)
        if epoch > len(self.accuracies):
            self.end_epoch()
        order = torch.randperm(REVIEWS, generator=self.context.generator(f"epoch {epoch}"))
        chosen = order[position * BATCH : (position + 1) * BATCH]
        return [(self.tokens[chosen], self.positive[chosen])]

    def end_epoch(self) -> Judged:
        """Test, remember the accuracy, and return the verdicts."""
        self.model.eval()
        with torch.no_grad():
            logits, _ = self.model(self.test_tokens, self.test_tokens != PAD)
        self.model.train()
        written = logits.argmax(-1)
        judged = Judged(written, written == self.test_positive)
        self.accuracies.append(judged.right.double().mean().item())
        return judged

    def of_kind(self, kind: str) -> Tensor:
        """Return which of the test reviews are of this kind, (500,)."""
        assert kind in KINDS
        return torch.tensor([review.kind == kind for review in self.tested])

    def exact(self) -> nn.Module:
        """Return the model as it is now, in float64 and without dropout: in float32 rounding would blur the checks."""
        return copy.deepcopy(self.model).double().eval()

    def _tensors(self, reviews: Sequence[Review]) -> tuple[Tensor, Tensor]:
        tokens = self.words.encode([review.words for review in reviews])  # (reviews, longest)
        return tokens, torch.tensor([int(review.positive) for review in reviews])


def _build(params: ClassifierParams, words: int, context: Context) -> nn.Module:
    generator = context.generator("weights")
    if params.model == "bag":
        return Bag(words, generator)
    shape = Shape(
        width=params.d,
        heads=params.heads,
        layers=params.layers,
        expansion=2,
        positions=params.model,
        norm="pre",
        dropout=params.dropout,
    )
    table = embedding(words, params.d, std=STD[params.model], generator=generator)
    return Classifier(Reader(table, shape, MOST_TOKENS + PADS, generator, std=0.1), generator)
