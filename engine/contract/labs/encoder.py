"""Declares the lab `encoder`: all layers and heads of an encoder on a sentence, untrained or trained on reviews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text
from engine.contract.message import Message, say
from engine.contract.parameters import Params, Problem, divisors_up_to
from engine.contract.reviews import read_review
from engine.contract.tokens import refuse_tokens

MOST_HEADS = 8
SENTENCE = Text(say("sentence"), zh="猫 坐 在 垫子 上", en="The cat sat on the mat")
REVIEW = Text(say("review"), zh="演员 平淡 但是 音乐 动人", en="the cast was flat but the music was moving")
OF_TRAINED = ("review",)
OF_RANDOM = ("sentence", "embed_size", "heads", "layers", "forward_expansion", "positions", "norm")


class EncoderParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `encoder`. The trained one has 2 pre-norm layers of 4 heads, width 32 and learned positions,
    and reads a `review` in the words it was trained on; the other fields of that kind belong to random weights."""

    weights: Annotated[
        str, Choice(say("weights"), ("random", "trained"), (say("random, untrained"), say("trained on reviews")))
    ] = "random"
    sentence: Annotated[str, SENTENCE] = ""
    review: Annotated[str, REVIEW] = ""
    view: Annotated[
        str,
        Choice(
            say("view"),
            ("maps", "entropy", "rollout", "ablation", "repeat", "parity"),
            (
                say("attention maps"),
                say("entropies"),
                say("attention rollout"),
                say("without one head"),
                say("two passes"),
                say("beside nn.TransformerEncoder"),
            ),
        ),
    ] = "maps"
    embed_size: Annotated[int, Choice(say("embedding width"), (32, *range(64, 513, 64)))] = 256
    heads: Annotated[int, Choice(say("number of heads"), tuple(range(1, MOST_HEADS + 1)))] = 4
    layers: Annotated[int, Integer(say("layers"), 1, 6)] = 2
    forward_expansion: Annotated[int, Integer(say("forward expansion"), 2, 8)] = 4
    positions: Annotated[
        str,
        Choice(
            say("positions"),
            ("learned", "sinusoid", "none"),
            (say("learned table"), say("sinusoid"), say("no positions")),
        ),
    ] = "learned"
    norm: Annotated[str, Choice(say("order"), ("post", "pre"), (say("post-norm"), say("pre-norm")))] = "post"
    mode: Annotated[
        str, Choice(say("mode"), ("eval", "train"), (say("eval: dropout off"), say("train: dropout on")))
    ] = "eval"
    dropout: Annotated[float, Real(say("dropout"), 0.0, 0.5)] = 0.1

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults, heads that do not divide the width, or an ablation of what was never trained."""
        if self.weights == "trained":
            review = read_review(REVIEW.label, self.review)
            if isinstance(review, Message):
                yield Problem("review", review)
            return
        if refusal := refuse_tokens(SENTENCE.label, self.sentence):
            yield Problem("sentence", refusal)
        valid = divisors_up_to(self.embed_size, MOST_HEADS)
        if self.heads not in valid:
            message = say(
                "{heads} heads cannot share an embedding of width {width} equally; choose one of: {valid}.",
                heads=self.heads,
                width=self.embed_size,
                valid=", ".join(map(str, valid)),
            )
            yield Problem("heads", message)
        if self.view == "ablation":
            yield Problem("view", say("Untrained heads do nothing that one could miss; choose trained weights."))

    def options(self, field: str) -> tuple[object, ...] | None:
        """Offer only numbers of heads that divide the width."""
        return divisors_up_to(self.embed_size, MOST_HEADS) if field == "heads" else None

    def relevant(self, field: str) -> bool:
        """Each kind of weights has its own text; the shape is free only of random ones; parity is in eval mode."""
        if field in OF_TRAINED:
            return self.weights == "trained"
        if field in OF_RANDOM:
            return self.weights == "random"
        return field not in ("mode", "dropout") or self.view != "parity"


def estimate(params: EncoderParams) -> Cost:
    """Training takes the time; random weights are drawn in a moment, up to 31 million of them."""
    if params.weights == "trained":
        return Cost(seconds=5.0)
    d = params.embed_size
    weights = params.layers * (4 + 2 * params.forward_expansion) * d * d
    seconds, size = (60e-9, 24) if params.view == "parity" else (20e-9, 4)  # parity: in float64, twice
    return Cost(seconds=0.05 + weights * seconds, bytes=weights * size)


LAB = Lab(
    name="encoder",
    title=say("Encoder viewer"),
    notice=say(
        "Structure appears only after training; which heads hold it depends on the seed; some heads are expendable; "
        "a map is not an explanation."
    ),
    parameters=EncoderParams,
    estimate=estimate,
    lessons=("encoder",),
)
