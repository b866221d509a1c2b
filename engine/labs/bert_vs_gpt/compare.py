"""What both models can do without another step of training: judge by a verdict, fill a gap, go on writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract.reviews import WORDS
from engine.contract.verdicts import DISPLEASED, LINK, PLEASED
from engine.labs.bert_vs_gpt.model import LENGTH
from engine.labs.bert_vs_gpt.pretrain import BEGIN, END, MASK, Pair
from engine.layers.decoding import Choose, generate
from engine.tasks.draws import Draws
from engine.tasks.sentiment import KINDS, Review, draw_reviews
from engine.tasks.vocabulary import PAD

TESTS = 500  # reviews kept from all training, judged without labels
GAPS = 300  # texts with one word of praise or blame
CONTINUED = 5  # samples of the prompt's continuation


@dataclass(frozen=True)
class Gap:
    """A text whose word at `place` praises or blames; what the audience did to its right says which."""

    words: tuple[str, ...]
    place: int
    good: bool


@dataclass(frozen=True)
class Filled:
    """Which of the gaps were filled with a word of the right kind, (300,) each: three ways."""

    bert: Tensor
    gpt_prefix: Tensor
    gpt_whole: Tensor


@torch.no_grad()
def zero_shot(pair: Pair, reviews: Sequence[Review]) -> dict[str, Tensor]:
    """Return for both families which reviews are judged rightly, (reviews,), by the verdict expected after “so we”."""
    texts = [(*review.words, *LINK[pair.language]) for review in reviews]
    ends = torch.tensor([len(text) for text in texts])  # the place of the last word, behind the beginning mark
    rows = torch.arange(len(texts))
    masked = pair.encode([(*text, MASK) for text in texts])
    logits = {
        "bert": pair.bert(masked)[rows, ends + 1],  # (reviews, V)
        "gpt": pair.gpt(pair.encode(texts, ended=False))[rows, ends],
    }
    positive = torch.tensor([review.positive for review in reviews])
    good, bad = PLEASED[pair.language], DISPLEASED[pair.language]
    return {family: prefers(pair, scores, good, bad) == positive for family, scores in logits.items()}


def by_kind(right: Tensor, reviews: Sequence[Review]) -> dict[str, float]:
    """Return the accuracy on each kind of review."""
    kinds = [review.kind for review in reviews]
    return {kind: right[torch.tensor([k == kind for k in kinds])].double().mean().item() for kind in KINDS}


def prefers(pair: Pair, scores: Tensor, good: Sequence[str], bad: Sequence[str]) -> Tensor:
    """Return whether the words `good` have together more probability than `bad` under logits (…, V)."""
    mass = [torch.logsumexp(scores[..., [pair.words.ids[word] for word in words]], dim=-1) for words in (good, bad)]
    return mass[0] > mass[1]


def draw_gaps(pair: Pair) -> list[Gap]:
    """Return plain and negated texts of the training part, with the place of the word that praises or blames."""
    draws = Draws(pair.context.generator("gaps"))
    words = WORDS[pair.language]
    gaps: list[Gap] = []
    while len(gaps) < GAPS:
        (review,) = draw_reviews(draws, pair.language, 1, test=False)
        if review.kind != "contrast":
            place = len(review.words) - 1
            verdict = draws.choice((PLEASED if review.positive else DISPLEASED)[pair.language])
            text = (*review.words, *LINK[pair.language], verdict)
            gaps.append(Gap(text, place, text[place] in words.good))
    return gaps


@torch.no_grad()
def fill(pair: Pair, gaps: Sequence[Gap]) -> Filled:
    """Fill every gap three ways: BERT with both sides in one pass; GPT from the left; GPT weighing whole sentences."""
    words = WORDS[pair.language]
    rows = torch.arange(len(gaps))
    places = torch.tensor([gap.place for gap in gaps])
    good = torch.tensor([gap.good for gap in gaps])
    tokens = pair.encode([gap.words for gap in gaps])  # (300, T)
    masked = tokens.clone()
    masked[rows, places + 1] = pair.words.ids[MASK]
    bert = pair.bert(masked)[rows, places + 1]  # (300, V)
    left = pair.gpt(tokens)[rows, places]  # (300, V): what follows the words before the gap
    candidates = (*words.good, *words.bad)
    whole = torch.stack([_log_probability(pair, tokens, places, word) for word in candidates], dim=-1)  # (300, 16)
    praised = whole[:, : len(words.good)].logsumexp(-1) > whole[:, len(words.good) :].logsumexp(-1)
    return Filled(
        prefers(pair, bert, words.good, words.bad) == good,
        prefers(pair, left, words.good, words.bad) == good,
        praised == good,
    )


def _log_probability(pair: Pair, tokens: Tensor, places: Tensor, word: str) -> Tensor:
    """Return ln p of every text (n, T) with `word` in its gap, (n,): the sum over all its words."""
    pair.context.check()
    tried = tokens.clone()
    tried[torch.arange(len(tokens)), places + 1] = pair.words.ids[word]
    log_probabilities = torch.log_softmax(pair.gpt(tried[:, :-1]), dim=-1)  # (n, T − 1, V)
    of_words = log_probabilities.gather(-1, tried[:, 1:, None]).squeeze(-1)  # (n, T − 1)
    return of_words.masked_fill(tried[:, 1:] == PAD, 0.0).sum(-1)


def go_on(pair: Pair, prompt: Sequence[str], choose: Choose) -> list[str]:
    """Return five texts with which the GPT goes on from the prompt, up to their end mark."""

    def step(text: Tensor, memory: None) -> tuple[Tensor, None]:
        return pair.gpt(text)[..., -1, :], None

    beginning = pair.words.encode([(BEGIN, *prompt)] * CONTINUED)  # (5, n)
    room = LENGTH - beginning.shape[1]
    columns = list(generate(step, beginning, room, choose, stop=pair.words.ids[END], cached=False))
    texts = [pair.words.decode(row.tolist()) for row in torch.stack(columns, dim=-1)]
    between = " " if pair.language == "en" else ""
    return [between.join(text[: text.index(END)] if END in text else text) for text in texts]
