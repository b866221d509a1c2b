"""Declares the lab `bert-vs-gpt`: one body, two masks and two objectives; who can do what afterwards?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text
from engine.contract.labs.char_gpt import TOP_K
from engine.contract.labs.classifier import LANGUAGE
from engine.contract.languages import in_language
from engine.contract.message import Message, say
from engine.contract.parameters import Params, Problem
from engine.contract.reviews import TypedReview, read_review
from engine.contract.verdicts import VERDICT_WORDS

MOST_PROMPT = 10  # words: a whole contrast and more
PROMPT = Text(say("prompt"), zh="剧情", en="the plot")


class BertVsGptParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `bert-vs-gpt`. `reviews` is their language; 600 steps are the short mode."""

    reviews: Annotated[
        str, Choice(LANGUAGE.label, ("prompt", "zh", "en"), (say("that of the prompt"), say("Chinese"), say("English")))
    ] = "prompt"
    steps: Annotated[int, Integer(say("steps"), 400, 1500)] = 1500
    mask_rate: Annotated[float, Real(say("mask rate of the BERT"), 0.2, 0.4)] = 0.3
    labels: Annotated[int, Choice(say("labelled reviews"), (16, 64, 256))] = 64
    pooling: Annotated[
        str, Choice(say("pooling of the GPT"), ("mean", "last"), (say("mean of all words"), say("last word")))
    ] = "mean"
    prompt: Annotated[str, PROMPT] = ""
    temperature: Annotated[float, Real(say("temperature τ"), 0.0, 2.0)] = 1.0
    top_k: Annotated[int | str, TOP_K] = "none"

    def problems(self) -> Iterator[Problem]:
        """Yield the prompt's faults."""
        if isinstance(read := own_prompt(self), Message):
            yield Problem("prompt", read)


def own_prompt(params: BertVsGptParams) -> TypedReview | Message:
    """Return the words to go on from, or why they are refused."""
    text = in_language(PROMPT, params.prompt, params.reviews)
    read = read_review(PROMPT.label, text, further=VERDICT_WORDS, least=1)
    if isinstance(read, Message):
        return read
    if params.reviews not in ("prompt", read.language):
        return say(
            "{label} is not in the language of the reviews; type one in it, or choose “{option}”.",
            label=PROMPT.label,
            option=say("that of the prompt"),
        )
    if len(read.words) > MOST_PROMPT:
        return say(
            "{label} has {count} words, but at most {most} are taken; shorten it.",
            label=PROMPT.label,
            count=len(read.words),
            most=MOST_PROMPT,
        )
    return read


def estimate(params: BertVsGptParams) -> Cost:
    """Both models take every step; tuning and the four comparisons cost the same for all parameters."""
    return Cost(seconds=5.0 + params.steps * 2 * 11e-3)


LAB = Lab(
    name="bert-vs-gpt",
    title=say("Same task, two families"),
    notice=say(
        "The GPT learns faster, with a target at every word; the BERT sees both sides. Fine-tuning ranks neither."
    ),
    parameters=BertVsGptParams,
    estimate=estimate,
    lessons=("families",),
    trains=True,
)
