"""Computes the lab `char-gpt`: trains a GPT on characters, watches its words become real, and lets it write."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from engine.contract.labs.char_gpt import CharGptParams, own_prompt
from engine.contract.message import say
from engine.contract.report import Cell, Column, Curves, Event, Invariant, Note, Panel, Report, Scalar, Series, Table
from engine.labs.base import Context, array, close, equal
from engine.labs.char_gpt.learn import TELL_EVERY, Course
from engine.layers.decoding import greedy, sampled
from engine.training.curves import loss_curves
from engine.training.loop import train

TEMPERATURES = (0.0, 0.5, 1.0, 1.5, 2.0)
LENGTH = 200  # characters a sample has
LIKELIEST = 8  # rows of the table of next characters
CHECKED = 30  # characters written to compare two ways of writing


def run(params: CharGptParams, context: Context) -> Iterator[Event]:
    """Yield the growing curves, then samples, the next character after the prompt, and the checked statements."""
    course = Course(params, context)
    yield from train([course.trainer], course.batch, params.steps, check=context.check, panels=lambda: _growing(course))
    course.mark(params.steps)
    prompt = own_prompt(params)
    top_k = _top_k(params, len(course.corpus.letters))
    choose = sampled(temperature=params.temperature, top_k=top_k, generator=context.generator("own sample"))
    (own,) = course.write(course.corpus.encode(prompt)[None], LENGTH, choose)
    samples = course.at_temperatures(TEMPERATURES, LENGTH)
    shares = [course.corpus.real_words(sample) for sample in samples]
    text = say("“{prompt}” → {text}", prompt=prompt, text=_line(own))
    panels: tuple[Panel, ...] = (
        *_growing(course),
        Note("written", text),
        _next(course, prompt, top_k),
        _samples(samples, shares),
    )
    values = _values(course) | {"written": own, "real_words_at_temperatures": _numbers(shares)}
    yield Report(panels, values, tuple(_invariants(course, prompt)))


def _top_k(params: CharGptParams, letters: int) -> int | None:
    """Return how many characters may be drawn, at most all of them, or None for no limit."""
    return min(params.top_k, letters) if isinstance(params.top_k, int) else None


def _growing(course: Course) -> tuple[Panel, ...]:
    letters = len(course.corpus.letters)
    level = (say("guessing, ln {classes}", classes=letters), math.log(letters))
    loss = loss_curves([(say("loss a character"), course.trainer.losses)], course.params.steps, levels=[level])
    steps = [float(mark.steps) for mark in course.marks]
    marks = [mark.loss for mark in course.marks]
    validation = Curves(
        "validation",
        say("Loss on text kept from training"),
        array(torch.tensor(steps, dtype=torch.float64)),
        (
            Series(say("validation"), array(torch.tensor(marks, dtype=torch.float64))),
            Series(level[0], array(torch.full((len(steps),), level[1], dtype=torch.float64))),
        ),
        say("step"),
        say("loss"),
    )
    columns = (
        Column(say("step"), "d"),
        Column(say("validation loss"), ".3f"),
        Column(say("perplexity"), ".2f"),
        Column(say("real words"), ".2f"),
    )
    rows = tuple((mark.steps, mark.loss, math.exp(mark.loss), mark.real_words) for mark in course.marks)
    return loss, validation, Table("marks", say("Seen on the way"), columns, rows)


def _samples(samples: list[str], shares: list[float | None]) -> Table:
    columns = (Column(say("temperature τ"), "g"), Column(say("real words"), ".2f"), Column(say("written")))
    rows = tuple(
        (temperature, share, _line(sample))
        for temperature, share, sample in zip(TEMPERATURES, shares, samples, strict=True)
    )
    return Table("samples", say("Written at several temperatures, without top-k"), columns, rows)


def _next(course: Course, prompt: str, top_k: int | None) -> Table:
    """List the likeliest characters after the prompt, with the probabilities before and after τ and top-k."""
    plain = course.next_letter(prompt)
    drawn = course.next_letter(prompt, course.params.temperature, top_k)
    order = plain.argsort(descending=True, stable=True)[:LIKELIEST].tolist()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_visible(course.corpus.letters[number]), plain[number].item(), drawn[number].item()) for number in order
    )
    columns = (
        Column(say("character")),
        Column(say("probability"), ".3f"),
        Column(say("with τ and top-k"), ".3f"),
    )
    return Table("next", say("The next character after “{prompt}”", prompt=prompt), columns, rows)


def _visible(letter: str) -> str:
    return {" ": "␣", "\n": "⏎"}.get(letter, letter)


def _line(text: str) -> str:
    return text.replace("\n", " ").strip()


def _numbers(shares: list[float | None]) -> list[float]:
    return [math.nan if share is None else share for share in shares]


def _values(course: Course) -> dict[str, Scalar]:
    """ln V, the losses on the validation text at 0, 100, … steps, and what was written."""
    letters = len(course.corpus.letters)
    last = course.marks[-1]
    values: dict[str, Scalar] = {
        "characters": len(course.corpus.text),
        "vocabulary": letters,
        "ln_vocabulary": math.log(letters),
        "start_loss": course.marks[0].loss,
        "last_loss": last.loss,
        "perplexity": math.exp(last.loss),
        "real_words": _numbers([mark.real_words for mark in course.marks]),
        "weights": course.trainer.weights,
    }
    return values | {f"loss_{mark.steps}": mark.loss for mark in course.marks if mark.steps % TELL_EVERY == 0}


@torch.no_grad()
def _invariants(course: Course, prompt: str) -> Iterator[Invariant]:
    start, guessing = course.marks[0].loss, math.log(len(course.corpus.letters))
    yield Invariant(
        say("before training the loss is that of guessing"),
        guessing - 0.1 <= start <= guessing + 0.5,
        say("{start:.3f} against ln V = {guessing:.3f}", start=start, guessing=guessing),
    )
    text = course.validation[: course.params.context]  # (n,)
    half = len(text) // 2
    other = torch.cat((text[:half], text[half:].add(1) % len(course.corpus.letters)))
    logits, _ = course.model(text)  # (n, V)
    changed, _ = course.model(other)
    yield close(say("later characters change nothing before them"), changed[:half] - logits[:half], 0.0)
    alone, _ = course.model(text[:half])
    yield equal(say("a beginning by itself has the logits it has in the text"), alone, logits[:half], 1e-5)
    beginning = course.corpus.encode(prompt)[None]
    written = course.write(beginning, CHECKED, greedy)
    generator = course.context.generator("checks")
    for name, choose in (
        (say("temperature 0 is greedy, whatever the generator"), sampled(temperature=0, generator=generator)),
        (say("top-k with k = 1 is greedy"), sampled(top_k=1, generator=generator)),
    ):
        again = course.write(beginning, CHECKED, choose)
        yield Invariant(name, again == written, say("{count} characters compared", count=CHECKED))
    yield close(
        say("the probabilities of the next character sum to 1"), course.next_letter(prompt).double().sum() - 1, 1e-6
    )
