"""Training examples of the three families, made from the same tokens.

BERT  some positions are chosen: 80 % become [MASK], 10 % another word, 10 % stay; only they have a label
GPT   the target of every position is the next token
T5    spans are replaced by sentinels <X0>, <X1>, …; the target says what stood there and ends with one more
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.contract.labs.families import SPECIAL

MASK, CLS, SEP, BOS = "[MASK]", "[CLS]", "[SEP]", "<bos>"
MASKED, REPLACED, KEPT = "masked", "replaced", "kept"


@dataclass(frozen=True)
class BertExample:
    """Inputs and labels with [CLS] in front and [SEP] behind; `labels` is None where nothing is predicted, and
    `treatment` says what happened at a chosen position."""

    tokens: list[str]
    inputs: list[str]
    labels: list[str | None]
    treatment: list[str | None]

    @property
    def chosen(self) -> list[int]:
        """The positions with a label."""
        return [position for position, label in enumerate(self.labels) if label is not None]


@dataclass(frozen=True)
class GptExample:
    """Inputs and what is to be said at each of them."""

    inputs: list[str]
    targets: list[str]


@dataclass(frozen=True)
class T5Example:
    """What the encoder reads and what the decoder is to say."""

    source: list[str]
    target: list[str]

    @property
    def decoder_inputs(self) -> list[str]:
        """What the decoder reads while it is taught: the target moved by one."""
        return [BOS, *self.target[:-1]]


def number_chosen(rate: float, count: int) -> int:
    """Return how many of `count` tokens are chosen: never none, for the loss would be 0/0."""
    return max(1, round(rate * count))


def bert_example(words: Sequence[str], rate: float, generator: torch.Generator) -> BertExample:
    """Choose exactly number_chosen(rate, n) of the words and hide them by the 80/10/10 rule."""
    tokens = [CLS, *words, SEP]
    inputs = list(tokens)
    labels: list[str | None] = [None] * len(tokens)
    treatment: list[str | None] = [None] * len(tokens)
    order: list[int] = torch.randperm(len(words), generator=generator).tolist()
    vocabulary = sorted(set(words))  # a random word is never a special token
    for position in sorted(order[: number_chosen(rate, len(words))]):
        at = position + 1  # behind [CLS]
        labels[at] = words[position]
        draw = torch.rand((), generator=generator).item()
        other = vocabulary[int(torch.randint(len(vocabulary), (), generator=generator))]
        done = MASKED if draw < 0.8 else REPLACED if draw < 0.9 else KEPT
        treatment[at] = done
        inputs[at] = {MASKED: MASK, REPLACED: other, KEPT: words[position]}[done]
    return BertExample(tokens, inputs, labels, treatment)


def gpt_example(words: Sequence[str]) -> GptExample:
    """Move the words by one, so that <bos> is to say the first and every word the next."""
    return GptExample([BOS, *words[:-1]], list(words))


def t5_example(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> T5Example:
    """Replace each span by a sentinel of its own."""
    source: list[str] = []
    target: list[str] = []
    behind = 0
    for number, (start, end) in enumerate(spans):
        source += [*words[behind:start], sentinel(number)]
        target += [sentinel(number), *words[start:end]]
        behind = end
    return T5Example([*source, *words[behind:]], [*target, sentinel(len(spans))])


def restored(example: T5Example) -> list[str]:
    """Return the text: every sentinel of the source replaced by what follows it in the target."""
    hidden: dict[str, list[str]] = {}
    for token in example.target:
        if SPECIAL.fullmatch(token):
            hidden[token] = []
        else:
            hidden[next(reversed(hidden))].append(token)
    return [word for token in example.source for word in hidden.get(token, [token])]


def sentinel(number: int) -> str:
    """Return the mark that stands for span `number`."""
    return f"<X{number}>"
