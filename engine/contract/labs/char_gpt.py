"""Declares the lab `char-gpt`: a small GPT learns to write, character by character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from engine.contract.declarations import Cost, Lab
from engine.contract.kinds import Choice, Integer, Real, Text, shown
from engine.contract.labs.classifier import MOST_HEADS, heads_refused
from engine.contract.languages import in_language, language_of
from engine.contract.message import say
from engine.contract.parameters import Params, Problem, divisors_up_to
from engine.contract.reviews import WORDS

CORPORA = ("sent", "sent-en", "sent-zh", "lessons", "paste")
CORPUS_LABELS = (
    say("reviews in the language of the prompt"),
    say("English reviews"),
    say("Chinese reviews"),
    say("our lessons"),
    say("your own text"),
)
FULL_STOP = {"en": ".", "zh": "。"}
PROMPT = Text(say("prompt"), zh="剧情", en="the p", most=200)
LESSON_PROMPT = {"en": "the p", "zh": "注意"}
BEGINNING = 5  # characters of a pasted text that it is continued from, while no prompt was typed
PASTE = Text(say("your own text"), zh="", en="", most=50_000)
TOP_K = Choice(
    say("top-k"),
    ("none", 1, 2, 3, 5, 10, 20),
    (say("off"), *(say("the {count} most probable", count=count) for count in (1, 2, 3, 5, 10, 20))),
)
MOST_LETTERS = 45_000  # of the lessons: about as much text as the reviews
_NO_PROSE = re.compile(
    r"\A---\n.*?^---$|^```.*?^```|^:::.*?^:::|\$[^$]*\$|`[^`]*`|\{[^}]*\}|\*\*", re.DOTALL | re.MULTILINE
)
_ROOM = Path(__file__).resolve().parents[3]


class CharGptParams(Params, frozen=True, forbid_unknown_fields=True):
    """What can be asked of `char-gpt`; the language of the prompt decides where a corpus exists in two."""

    corpus: Annotated[str, Choice(say("corpus"), CORPORA, CORPUS_LABELS)] = "sent"
    paste: Annotated[str, PASTE] = ""
    layers: Annotated[int, Integer(say("number of layers"), 1, 4)] = 2
    d: Annotated[int, Choice(say("width d"), (32, 48, 64, 96))] = 48
    heads: Annotated[int, Choice(say("number of heads"), tuple(range(1, MOST_HEADS + 1)))] = 4
    context: Annotated[int, Integer(say("context in characters"), 16, 96)] = 48
    steps: Annotated[int, Integer(say("steps"), 50, 1000)] = 400
    temperature: Annotated[float, Real(say("temperature τ"), 0.0, 2.0)] = 1.0
    top_k: Annotated[int | str, TOP_K] = "none"
    prompt: Annotated[str, PROMPT] = ""

    def problems(self) -> Iterator[Problem]:
        """Yield heads that do not divide the width, a text that is too short, a prompt with unknown characters."""
        if self.heads not in divisors_up_to(self.d, MOST_HEADS):
            yield Problem("heads", heads_refused(self.heads, self.d))
        least = 2 * (self.context + 1)  # one window to learn from and one to be tested on
        if self.corpus == "paste" and len(self.paste) < least:
            message = say(
                "{label} has {length} characters; a context of {context} needs at least {least}.",
                label=PASTE.label,
                length=len(self.paste),
                context=self.context,
                least=least,
            )
            yield Problem("paste", message)
            return
        letters = alphabet(self)
        if not letters:
            yield Problem("corpus", say("The lessons are not installed beside the engine; choose another corpus."))
            return
        prompt = own_prompt(self)
        if not prompt:
            yield Problem("prompt", say("{label} is empty; type at least one character.", label=PROMPT.label))
        elif unknown := [letter for letter in prompt if letter not in letters]:
            message = say(
                "{label} has the character “{letter}”, which the corpus does not contain.",
                label=PROMPT.label,
                letter=shown(unknown[0]),
            )
            yield Problem("prompt", message)

    def options(self, field: str) -> tuple[int, ...] | None:
        """Offer only numbers of heads that divide the width."""
        return divisors_up_to(self.d, MOST_HEADS) if field == "heads" else None

    def relevant(self, field: str) -> bool:
        """Tell whether the chosen corpus uses `field`."""
        return field != "paste" or self.corpus == "paste"


def corpus_language(params: CharGptParams) -> str:
    """Return "en" or "zh": that of the reviews when it was chosen, else that of the prompt."""
    return {"sent-en": "en", "sent-zh": "zh"}.get(params.corpus) or language_of(params.prompt)


def own_prompt(params: CharGptParams) -> str:
    """Return the prompt to go on from: what was typed, else one that the corpus can have."""
    if params.prompt not in (PROMPT.zh, PROMPT.en):
        return params.prompt
    if params.corpus == "paste":
        return params.paste[:BEGINNING]
    if params.corpus == "lessons":
        return LESSON_PROMPT[corpus_language(params)]
    return in_language(PROMPT, params.prompt, corpus_language(params))


def alphabet(params: CharGptParams) -> tuple[str, ...]:
    """Return every character of the corpus once, sorted; none when the lessons are not there."""
    if params.corpus == "paste":
        return tuple(sorted(set(params.paste)))
    language = corpus_language(params)
    if params.corpus == "lessons":
        return tuple(sorted(set(lesson_text(language))))
    between = " " if language == "en" else ""
    return tuple(sorted({*"".join(WORDS[language].all), *between, FULL_STOP[language], "\n"}))


def lesson_text(language: str) -> str:
    """Return the beginning of the course's own prose, without code and formulas; empty when it is not installed."""
    installed = _ROOM / "tutor" / "_lessons"
    folder = (installed if installed.is_dir() else _ROOM / "lessons") / language
    text = ""
    for path in sorted(folder.glob("*.md")):
        prose = _NO_PROSE.sub("", path.read_text("utf-8"))
        lines = (" ".join(line.split()) for line in prose.splitlines())
        text += "".join(line + "\n" for line in lines if line and line[0].isalpha())
        if len(text) >= MOST_LETTERS:
            break
    return text[:MOST_LETTERS].strip()


def estimate(params: CharGptParams) -> Cost:
    """A step reads 24 windows forwards and backwards; writing reads one window for every character and text."""
    layer = params.context * (params.d + 40) * 3e-8  # seconds a window takes in a layer, forwards
    per_step = 2e-3 + 24 * (3 * params.layers * layer + params.context * len(alphabet(params)) * 2e-8)
    marks = params.steps // 100 + 1
    characters, texts = marks * 75 + 460, marks * 300 + 1260
    writing = params.layers * (characters * 8e-4 + texts * layer)
    return Cost(seconds=0.5 + params.steps * per_step + writing)


LAB = Lab(
    name="char-gpt",
    title=say("Character-level GPT"),
    notice=say("Before training the loss is ln V: as many choices as there are characters, e^loss = V."),
    parameters=CharGptParams,
    estimate=estimate,
    lessons=("families",),
    trains=True,
)
