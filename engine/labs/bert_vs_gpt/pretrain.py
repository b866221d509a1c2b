"""Learning from texts without labels: the same 4000 texts and batches, a cloze for one, the next word for the other.

BERT    −(1/|C|) Σ_{t∈C} ln p(x_t | x̃)          C: chosen words; 80 % become the mask, 10 % another word, 10 % stay
GPT     −(1/T) Σ_t ln p(x_t | x_<t)
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.contract.labs.bert_vs_gpt import BertVsGptParams
from engine.labs.base import Context
from engine.labs.bert_vs_gpt.model import LanguageModel
from engine.layers.loss import IGNORED
from engine.tasks.draws import Draws
from engine.tasks.verdicts import draw_verdicts, verdict_vocabulary
from engine.tasks.vocabulary import PAD
from engine.training.adamw import AdamW
from engine.training.clipping import clipped_at
from engine.training.losses import Loss, classification
from engine.training.schedules import constant
from engine.training.trainer import Trainer

TEXTS, BATCH, RATE = 4000, 64, 5e-3
MASK, BEGIN, END = "<mask>", "<begin>", "<end>"
SPECIAL = 4  # numbers below this are the padding and these three
FAMILIES = ("bert", "gpt")


@dataclass(frozen=True)
class Batch:
    """Texts (n, T), the same with words hidden (n, T), and the hidden words where they were, else IGNORED (n, T)."""

    tokens: Tensor
    hidden: Tensor
    labels: Tensor


@dataclass
class Pair:
    """Both models with their trainers, the texts, and what each model has seen."""

    params: BertVsGptParams
    language: str
    context: Context
    seen: dict[str, list[int]] = field(default_factory=lambda: {family: [] for family in FAMILIES})
    fewest_hidden: int = BATCH * 100

    def __post_init__(self) -> None:
        self.words = verdict_vocabulary(self.language, MASK, BEGIN, END)
        self.texts = self.encode(draw_verdicts(Draws(self.context.generator("texts")), self.language, TEXTS))
        self.bert = self._model(causal=False)
        self.gpt = self._model(causal=True)
        self.trainers = {
            family: Trainer(
                model, loss, AdamW(model.parameters(), weight_decay=0.01), constant(RATE), clip=clipped_at(1.0)
            )
            for family, model, loss in (("bert", self.bert, self.cloze), ("gpt", self.gpt, self.next_word))
        }

    def encode(self, texts: list[tuple[str, ...]], *, ended: bool = True) -> Tensor:
        """Return texts as numbers between the marks of beginning and end, padded, (texts, T)."""
        end = (END,) if ended else ()
        return self.words.encode([(BEGIN, *text, *end) for text in texts])

    def batch(self, number: int) -> list[Batch]:
        """Return the texts of step `number`, with the words the BERT has to find."""
        chosen = torch.randint(TEXTS, (BATCH,), generator=self.context.generator(f"texts {number}"))
        tokens = self.texts[chosen]
        batch = hide(tokens, self.params.mask_rate, len(self.words), self.context.generator(f"mask {number}"))
        self.fewest_hidden = min(self.fewest_hidden, int((batch.labels != IGNORED).sum()))
        return [batch]

    def cloze(self, batch: Batch) -> Loss:
        """Judge the BERT on the hidden words."""
        self.seen["bert"].append(zlib.crc32(batch.tokens.numpy().tobytes()))
        return classification(self.bert(batch.hidden), batch.labels)

    def next_word(self, batch: Batch) -> Loss:
        """Judge the GPT on every word after the first mark."""
        self.seen["gpt"].append(zlib.crc32(batch.tokens.numpy().tobytes()))
        return classification(self.gpt(batch.tokens[:, :-1]), batch.tokens[:, 1:], ignored=PAD)

    def _model(self, *, causal: bool) -> LanguageModel:
        return LanguageModel(len(self.words), causal, self.context.generator("weights"))  # both start alike


def hide(tokens: Tensor, rate: float, vocabulary: int, generator: torch.Generator) -> Batch:
    """Return a batch in which about `rate` of the words are to be found; at least one is, or there would be no loss."""
    draws, fate = torch.rand(2, *tokens.shape, generator=generator)  # each (n, T)
    draws = draws.where(tokens >= SPECIAL, 1.0)
    chosen = draws < max(rate, draws.min().nextafter(torch.tensor(2.0)).item())
    others = torch.randint(SPECIAL, vocabulary, tokens.shape, generator=generator)
    hidden = tokens.where(~(chosen & (fate < 0.8)), 1)  # the mask is number 1
    hidden = hidden.where(~(chosen & (fate >= 0.9)), others)
    return Batch(tokens, hidden, tokens.where(chosen, IGNORED))
