"""What the views of `encoder` look at: a text, an encoder that reads it, and its passes, with or without dropout."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from engine.contract.labs.encoder import REVIEW, EncoderParams
from engine.contract.message import Message
from engine.contract.report import Event
from engine.contract.reviews import read_review
from engine.contract.tokens import axis_labels, tokenize
from engine.labs.base import Context
from engine.labs.encoder.model import Reader, Shape
from engine.labs.encoder.trained import LENGTH, SHAPE, STD, Trained, trained
from engine.layers.encoder import EncoderTrace
from engine.tasks.vocabulary import Vocabulary

POSITION_STD = 0.02  # as BERT and GPT start theirs


@dataclass(frozen=True)
class Look:
    """A text by its words, their numbers (n,) and its language, and the encoder that reads it; `trained` holds the
    whole classifier when the weights are trained ones."""

    words: tuple[str, ...]
    tokens: Tensor
    reader: Reader
    params: EncoderParams
    context: Context
    language: str
    trained: Trained | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """One distinct label per word."""
        return tuple(axis_labels(list(self.words)))

    @torch.no_grad()
    def read(self, number: int = 1) -> tuple[Tensor, EncoderTrace]:
        """Return states (n, width) and trace of pass `number`; in train mode each has a dropout of its own."""
        self.reader.train(self.params.mode == "train")
        with torch.random.fork_rng(devices=()):  # dropout draws from torch's global generator
            torch.manual_seed(self.context.generator(f"dropout {number}").initial_seed())
            states, trace = self.reader(self.tokens)
        self.reader.eval()
        return states, trace


def look(params: EncoderParams, context: Context) -> Generator[Event, None, Look]:
    """Return the encoder of the parameters on its text; yield the progress of its training when it needs one."""
    if params.weights == "random":
        return _untrained(params, context)
    review = read_review(REVIEW.label, params.review)
    assert not isinstance(review, Message)  # problems() has refused it
    result = yield from trained(review.language, context)
    table = nn.Embedding(len(result.vocabulary), SHAPE.width)
    shape = replace(SHAPE, dropout=params.dropout)
    reader = Reader(table, shape, LENGTH, context.generator("replaced"), std=STD)
    reader.load_state_dict(result.model.reader.state_dict())
    tokens = result.vocabulary.encode([review.words])[0]
    return Look(review.words, tokens, reader.eval(), params, context, review.language, result)


def _untrained(params: EncoderParams, context: Context) -> Look:
    words = tuple(tokenize(params.sentence))
    vocabulary = Vocabulary(dict.fromkeys(words))
    vectors = context.word_vectors(vocabulary.words, params.embed_size).float()  # (V, width)
    shape = Shape(
        width=params.embed_size,
        heads=params.heads,
        layers=params.layers,
        expansion=params.forward_expansion,
        positions=params.positions,
        norm=params.norm,
        dropout=params.dropout,
    )
    table = nn.Embedding(len(vocabulary), params.embed_size, _weight=vectors)
    reader = Reader(table, shape, LENGTH, context.generator("weights"), std=POSITION_STD)
    return Look(words, vocabulary.encode([words])[0], reader.eval(), params, context, context.language)
