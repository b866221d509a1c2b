"""The GPT, its training on windows of the text, its validation, and how it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.contract.labs.char_gpt import CharGptParams
from engine.labs.base import Context
from engine.labs.char_gpt.text import Corpus, corpus
from engine.layers.decoding import Choose, generate, next_token_probabilities, sampled
from engine.layers.gpt import GPT
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

BATCH, RATE = 24, 5e-3
TELL_EVERY = 100  # steps between two validations
SAMPLES, LENGTH = 4, 75  # written at each of them, to count real words

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Mark:
    """What was seen after some steps: loss on the validation text, share of real words among those written."""

    steps: int
    loss: float
    real_words: float | None


@dataclass
class Course:
    """One training: the text in two parts, the model with its trainer, and what was seen on the way."""

    params: CharGptParams
    context: Context
    marks: list[Mark] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.corpus: Corpus = corpus(self.params, self.context)
        window = self.params.context
        self.training, self.validation = self.corpus.parts(window + 1)
        self.model = GPT(
            len(self.corpus.letters),
            self.params.d,
            self.params.heads,
            self.params.layers,
            window,
            generator=self.context.generator("weights"),
        )
        optimiser = AdamW(self.model.parameters(), weight_decay=0.01)
        self.trainer = Trainer(self.model, self.loss, optimiser, constant(RATE), clip=clipped_at(1.0))

    def loss(self, batch: Batch) -> Loss:
        """Judge the model on windows of text and the same one character further, each (batch, context)."""
        inputs, targets = batch
        logits, _ = self.model(inputs)
        return classification(logits, targets)

    def batch(self, number: int) -> list[Batch]:
        """Return 24 windows for step `number`; after every hundred steps the model is looked at first."""
        if (number - 1) % TELL_EVERY == 0 and (not self.marks or self.marks[-1].steps < number - 1):
            self.mark(number - 1)
        size = self.params.context
        generator = self.context.generator(f"windows {number}")
        begins = torch.randint(len(self.training) - size, (BATCH, 1), generator=generator)
        windows = self.training[begins + torch.arange(size + 1)]  # (24, context + 1)
        return [(windows[:, :-1], windows[:, 1:])]

    @torch.no_grad()
    def mark(self, steps: int) -> None:
        """Validate, write a little, and remember both."""
        size = self.params.context
        windows = self.validation.unfold(0, size + 1, size)  # (windows, context + 1): every target once
        loss = self.loss((windows[:, :-1], windows[:, 1:]))
        choose = sampled(generator=self.context.generator(f"words {steps}"))
        written = self.write(self._beginnings(SAMPLES), LENGTH, choose)
        share = self.corpus.real_words("\n".join(written))
        self.marks.append(Mark(steps, loss.total.item() / loss.count, share))

    def write(self, beginnings: Tensor, length: int, choose: Choose) -> list[str]:
        """Return what follows the beginnings (rows, n), `length` characters each.

        The model sees the last `context` characters. A cache would not do: its positions would run out.
        """

        def step(text: Tensor, memory: None) -> tuple[Tensor, None]:
            self.context.check()
            logits, _ = self.model(text[..., -self.params.context :])
            return logits[..., -1, :], None

        letters = list(generate(step, beginnings, length, choose, cached=False))
        return [self.corpus.decode(row.tolist()) for row in torch.stack(letters, dim=-1)]

    def at_temperatures(self, temperatures: Sequence[float], length: int) -> list[str]:
        """Return one text per temperature, written side by side."""
        choices = [
            sampled(temperature=temperature, generator=self.context.generator(f"temperature {temperature}"))
            for temperature in temperatures
        ]

        def choose(logits: Tensor) -> Tensor:
            return torch.cat([choice(row[None]) for choice, row in zip(choices, logits, strict=True)])

        return self.write(self._beginnings(len(temperatures)), length, choose)

    @torch.no_grad()
    def next_letter(self, prompt: str, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
        """Return the probabilities (V,) of the character after `prompt`; all on the likeliest at temperature 0."""
        logits, _ = self.model(self.corpus.encode(prompt)[-self.params.context :])
        if temperature == 0:
            return torch.nn.functional.one_hot(logits[-1].argmax(), len(self.corpus.letters)).float()
        return next_token_probabilities(logits[-1], temperature=temperature, top_k=top_k)

    def _beginnings(self, rows: int) -> Tensor:
        """Return what each text follows: the end of a line, or the first character of the corpus, (rows, 1)."""
        first = "\n" if "\n" in self.corpus.letters else self.corpus.text[0]
        return self.corpus.encode(first).expand(rows, 1)
