"""Declares the lab `classifier`: a text classifier is trained, and two weaker ones show what its parts are for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text
from engine.contract.languages import in_language
from engine.contract.message import Message, say
from engine.contract.parameters import Params, Problem, divisors_up_to
from engine.contract.reviews import TypedReview, read_review

MOST_HEADS = 8
REVIEWS, BATCH = 2000, 64
STEPS_PER_EPOCH = -(-REVIEWS // BATCH)
SENTENCE = Text(say("sentence"), zh="表演 精彩 尽管 剧情 俗套", en="the cast was flat but the music was moving")
LANGUAGE = Choice(
    say("language of the reviews"),
    ("sentence", "zh", "en"),
    (say("that of the sentence"), say("Chinese"), say("English")),
)
MODELS = ("bag", "none", "learned", "sinusoid")
MODEL_LABELS = (say("bag of words"), say("no positions"), say("learned positions"), say("sinusoid"))


class ClassifierParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `classifier`; a bag of words has no layers. `reviews` is the language they are in."""

    reviews: Annotated[str, LANGUAGE] = "sentence"
    model: Annotated[str, Choice(say("model"), MODELS, MODEL_LABELS)] = "learned"
    layers: Annotated[int, Integer(say("number of layers"), 1, 4)] = 2
    d: Annotated[int, Choice(say("width d"), (16, 32, 48, 64))] = 32
    heads: Annotated[int, Choice(say("number of heads"), tuple(range(1, MOST_HEADS + 1)))] = 4
    dropout: Annotated[float, Real(say("dropout"), 0.0, 0.3)] = 0.0
    epochs: Annotated[int, Integer(say("epochs"), 1, 10)] = 8
    lr: Annotated[float, Real(say("learning rate"), 1e-3, 1e-2, "log")] = 5e-3
    warmup: Annotated[int, Integer(say("warm-up steps"), 0, 100)] = 0
    smoothing: Annotated[float, Real(say("label smoothing ε"), 0.0, 0.2)] = 0.0
    sentence: Annotated[str, SENTENCE] = ""

    def problems(self) -> Iterator[Problem]:
        """Yield the sentence's faults, or heads that do not divide the width."""
        if isinstance(read := own_review(self), Message):
            yield Problem("sentence", read)
        valid = divisors_up_to(self.d, MOST_HEADS)
        if self.relevant("heads") and self.heads not in valid:
            yield Problem("heads", heads_refused(self.heads, self.d))

    def options(self, field: str) -> tuple[int, ...] | None:
        """Offer only numbers of heads that divide the width."""
        return divisors_up_to(self.d, MOST_HEADS) if field == "heads" else None

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen model has `field`."""
        return self.model != "bag" or field not in ("layers", "d", "heads", "dropout")


def heads_refused(heads: int, width: int) -> Message:
    """Return why a width cannot be cut into these heads."""
    return say(
        "{heads} heads cannot share a width of {width} equally; choose one of: {valid}.",
        heads=heads,
        width=width,
        valid=", ".join(map(str, divisors_up_to(width, MOST_HEADS))),
    )


def own_review(params: ClassifierParams) -> TypedReview | Message:
    """Return the review to classify, or why it is refused."""
    text = in_language(SENTENCE, params.sentence, params.reviews)
    read = read_review(SENTENCE.label, text)
    if isinstance(read, TypedReview) and params.reviews not in ("sentence", read.language):
        return say(
            "{label} is not in the language of the reviews; type one in it, or choose “{option}”.",
            label=SENTENCE.label,
            option=LANGUAGE.labels[0],
        )
    return read


def estimate(params: ClassifierParams) -> Cost:
    """A step costs by layers and width; the bag has nothing but its table."""
    per_step = 1.5e-3 if params.model == "bag" else 2e-3 + params.layers * (4e-3 + params.d * 1e-4)
    return Cost(seconds=0.3 + params.epochs * STEPS_PER_EPOCH * per_step)


LAB = Lab(
    name="classifier",
    title=say("Train a text classifier"),
    notice=say(
        "Negation needs interaction, “but” and “although” need order; on negated sentences the bag is below chance."
    ),
    parameters=ClassifierParams,
    estimate=estimate,
    lessons=("training",),
    trains=True,
)
