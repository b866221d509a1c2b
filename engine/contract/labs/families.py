"""Declares the lab `families`: what BERT, GPT and T5 may see, and what they are asked to say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Numbers, Real, Text
from engine.contract.message import say
from engine.contract.parameters import Params, Problem
from engine.contract.tokens import MOST_TOKENS, refuse_tokens, tokenize

TEXT = Text(
    say("text"),
    zh="我们 沿着 河岸 散步 直到 雨 停",
    en="we walked along the river bank until the rain stopped",
)
SPECIAL = re.compile(r"\[(?:MASK|CLS|SEP)\]|<bos>|<X\d+>")
"""Tokens that the families add to a text; no word of the text may look like one."""

Span = tuple[float, ...]
SPANS = Numbers(say("spans (start end; …)"), "matrix", most_rows=MOST_TOKENS, most_columns=2, limit=MOST_TOKENS)


class FamiliesParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `families`; a span goes from its start up to, not including, its end, counted from 0.

    Without spans one is drawn that is as long as the mask rate says.
    """

    family: Annotated[str, Choice(say("family"), ("BERT", "GPT", "T5"), (say("BERT"), say("GPT"), say("T5")))] = "BERT"
    text: Annotated[str, TEXT] = ""
    mask_rate: Annotated[float, Real(say("share of masked tokens"), 0.05, 0.4)] = 0.15
    spans: Annotated[tuple[Span, ...], SPANS] = ((2.0, 4.0), (5.0, 6.0))

    def problems(self) -> Iterator[Problem]:
        """Yield the text's faults, or spans that are not ordered, overlap or leave the text."""
        if refusal := refuse_tokens(TEXT.label, self.text):
            yield Problem("text", refusal)
            return
        if special := next(filter(SPECIAL.fullmatch, tokenize(self.text)), None):
            yield Problem("text", say("“{token}” is a mark of the families here; leave it out.", token=special))
        elif self.family == "T5":
            yield from span_problems(self.spans, len(tokenize(self.text)))

    def relevant(self, field: str) -> bool:
        """Spans are T5's; the mask rate is BERT's, and T5's when it has no spans."""
        if field == "spans":
            return self.family == "T5"
        if field == "mask_rate":
            return self.family == "BERT" or (self.family == "T5" and not self.spans)
        return True


def span_problems(spans: Sequence[Span], count: int) -> Iterator[Problem]:
    """Yield what is wrong with the first span that is none, leaves the text of `count` tokens or overlaps."""
    behind = 0
    for span in spans:
        if len(span) != 2 or any(edge != int(edge) for edge in span):
            yield Problem("spans", say("A span is two whole numbers, its start and its end, such as 2 4."))
            return
        start, end = int(span[0]), int(span[1])
        if not 0 <= start < end <= count:
            message = say(
                "The span {start} {end} is not inside the text of {count} tokens: 0 ≤ start < end ≤ {count}.",
                start=start,
                end=end,
                count=count,
            )
            yield Problem("spans", message)
            return
        if start < behind:
            message = say(
                "The span {start} {end} begins before the one in front of it ends, at {behind}; order them.",
                start=start,
                end=end,
                behind=behind,
            )
            yield Problem("spans", message)
            return
        behind = end


LAB = Lab(
    name="families",
    title=say("Three families"),
    notice=say("A GPT gets a target at every position, a BERT at one in seven."),
    parameters=FamiliesParams,
    estimate=lambda params: Cost(seconds=0.1),
    lessons=("families",),
)
