"""Declares the lab `sdpa`: scaled dot-product attention by hand, on seven given weights, on the learner's sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Boolean, Choice, Integer, Numbers, Real, Text
from engine.contract.message import Message, say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import refuse_tokens

Matrix = tuple[tuple[float, ...], ...]

SENTENCE = Text(say("sentence"), zh="今天 的 天气 很 好", en="the weather is fine today")
QUERIES = Numbers(say("queries Q"), "matrix", most_rows=12, most_columns=16, limit=1000)
KEYS = Numbers(say("keys K"), "matrix", most_rows=12, most_columns=16, limit=1000)
VALUES = Numbers(say("values V"), "matrix", most_rows=12, most_columns=16, limit=1000)

HAND_QUERIES: Matrix = ((1.0, 0.0),)
HAND_KEYS: Matrix = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
HAND_VALUES: Matrix = ((10.0, 0.0), (0.0, 10.0), (5.0, 5.0))

CAFE_WORDS = {
    "zh": ("他", "常", "在", "咖啡馆", "里", "读", "小说"),
    "en": ("he", "often", "at", "café", "in", "reads", "novels"),
}
CAFE_WEIGHTS = (0.1, 0.3, 0.1, 0.4, 0.05, 0.3, 0.2)
# Two features per word, "place" and "activity"; the first query asks for a place, the second for an activity.
CAFE_QUERIES: Matrix = ((2.0, 0.0), (0.0, 2.0))
CAFE_KEYS: Matrix = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (3.0, 0.0), (1.0, 0.0), (0.0, 3.0), (0.0, 2.0))


class SdpaParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `sdpa`. Empty matrices mean the lab's own; in café mode the values are the keys."""

    mode: Annotated[
        str,
        Choice(
            say("mode"),
            ("hand-case", "cafe", "own-sentence"),
            (say("by hand"), say("café sentence"), say("own sentence")),
        ),
    ] = "hand-case"
    sentence: Annotated[str, SENTENCE] = ""
    d_k: Annotated[int, Integer(say("key width d_k"), 1, 16)] = 2
    scale: Annotated[bool, Boolean(say("divide by √d_k"))] = True
    temperature: Annotated[float, Real(say("temperature τ"), 0.1, 5.0, "log")] = 1.0
    queries: Annotated[Matrix, QUERIES] = ()
    keys: Annotated[Matrix, KEYS] = ()
    values: Annotated[Matrix, VALUES] = ()

    def matrices(self) -> tuple[Matrix, Matrix, Matrix]:
        """Return queries, keys and values of the hand and café cases, with the lab's own where none are given."""
        if self.mode == "hand-case":
            return self.queries or HAND_QUERIES, self.keys or HAND_KEYS, self.values or HAND_VALUES
        keys = self.keys or CAFE_KEYS
        return self.queries or CAFE_QUERIES, keys, self.values or keys

    def problems(self) -> Iterator[Problem]:
        """Yield the sentence's faults, or where the matrices do not fit each other."""
        if self.mode == "own-sentence":
            if refusal := refuse_tokens(SENTENCE.label, self.sentence):
                yield Problem("sentence", refusal)
            return
        queries, keys, values = self.matrices()
        if self.mode == "cafe" and len(keys) != len(CAFE_WEIGHTS):
            yield Problem("keys", _one_row_per_word(KEYS.label, len(keys)))
        elif self.mode == "cafe" and len(keys[0]) != 2:
            yield Problem(
                "keys",
                say(
                    "The café sentence has keys of {features} features, but {label} has {width}.",
                    features=2,
                    label=KEYS.label,
                    width=len(keys[0]),
                ),
            )
        elif len(queries[0]) != len(keys[0]):
            message = say(
                "Queries have {queries} columns and keys have {keys}; both need the same number.",
                queries=len(queries[0]),
                keys=len(keys[0]),
            )
            yield Problem("queries" if self.queries else "keys", message)
        elif len(values) != len(keys):
            message = say(
                "There are {keys} keys and {values} values; each key needs one value.",
                keys=len(keys),
                values=len(values),
            )
            yield Problem("values" if self.values else "keys", message)

    def relevant(self, field: str) -> bool:
        """Own sentences draw their matrices; the other modes take them as given and have 2-d keys."""
        if field in ("sentence", "d_k"):
            return self.mode == "own-sentence"
        if field in ("queries", "keys", "values"):
            return self.mode != "own-sentence"
        return True


def _one_row_per_word(label: Message, rows: int) -> Message:
    return say("The café sentence has {words} words, but {label} has {rows} rows.", words=7, label=label, rows=rows)


LAB = Lab(
    name="sdpa",
    title=say("Scaled dot-product attention"),
    notice=say("The diagonal is allowed; entropy lies between 0 and ln n, it is not “low by nature”."),
    parameters=SdpaParams,
    estimate=lambda params: Cost(seconds=0.02),
    lessons=("self-attention",),
)
