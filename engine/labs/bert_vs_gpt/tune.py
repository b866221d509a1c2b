"""Fine-tuning with few labels: the same reviews and steps for both families, pre-trained and from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.message import Message, say
from engine.contract.report import Event
from engine.labs.bert_vs_gpt.model import Body, Judge
from engine.labs.bert_vs_gpt.pretrain import Pair
from engine.tasks.draws import Draws
from engine.tasks.sentiment import Review, draw_reviews
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.loop import train
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

STEPS, BATCH, RATE = 80, 32, 2e-3

Labelled = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Start:
    """Where a fine-tuning starts: family, pooling, pre-trained or not; `key` names its value."""

    key: str
    label: Message
    family: str
    pooling: str
    pretrained: bool


STARTS = (
    Start("bert_mean", say("BERT, mean"), "bert", "mean", True),
    Start("gpt_mean", say("GPT, mean"), "gpt", "mean", True),
    Start("gpt_last", say("GPT, last word"), "gpt", "last", True),
    Start("scratch_bert_mean", say("BERT, mean, from scratch"), "bert", "mean", False),
    Start("scratch_gpt_mean", say("GPT, mean, from scratch"), "gpt", "mean", False),
    Start("scratch_gpt_last", say("GPT, last word, from scratch"), "gpt", "last", False),
)


class Tuning:
    """The judges of one comparison, and the labelled reviews they learn from."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        count = pair.params.labels
        reviews = draw_reviews(Draws(pair.context.generator("labelled")), pair.language, count, test=False)
        self.tokens, self.positive = _tensors(pair, reviews)
        self.judges = {start.key: _judge(pair, start) for start in STARTS}

    def events(self) -> Iterator[Event]:
        """Tune all judges side by side; yield progress."""
        trainers = [_trainer(judge) for judge in self.judges.values()]
        yield from train(trainers, self._batch, STEPS, check=self.pair.context.check)

    @torch.no_grad()
    def accuracies(self, tested: Sequence[Review]) -> dict[str, float]:
        """Return the accuracy on the test reviews from every start."""
        tokens, positive = _tensors(self.pair, tested)
        return {
            key: (judge(tokens).argmax(-1) == positive).double().mean().item() for key, judge in self.judges.items()
        }

    def _batch(self, number: int) -> list[Labelled]:
        count = len(self.tokens)
        generator = self.pair.context.generator(f"tuning {number}")
        chosen = torch.randint(count, (min(BATCH, count),), generator=generator)
        return [(self.tokens[chosen], self.positive[chosen])]


def _judge(pair: Pair, start: Start) -> Judge:
    model = pair.bert if start.family == "bert" else pair.gpt
    body = model.body
    if not start.pretrained:
        body = Body(len(pair.words), body.causal, pair.context.generator("scratch"))
    return Judge(body, start.pooling, pair.context.generator("judge"))


def _trainer(judge: Judge) -> Trainer[Labelled]:
    def loss(batch: Labelled) -> Loss:
        tokens, positive = batch
        return classification(judge(tokens), positive)

    optimiser = AdamW(judge.parameters(), weight_decay=0.01)
    return Trainer(judge, loss, optimiser, constant(RATE), clip=clipped_at(1.0))


def _tensors(pair: Pair, reviews: Sequence[Review]) -> tuple[Tensor, Tensor]:
    tokens = pair.encode([review.words for review in reviews])
    return tokens, torch.tensor([int(review.positive) for review in reviews])
