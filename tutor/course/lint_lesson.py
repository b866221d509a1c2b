"""Rules for one lesson: ids, labs and their parameters, quotes, questions, exercises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.contract.labs import UnknownLab, declaration
from engine.contract.message import Message, say
from engine.contract.parameters import InvalidParameters, build
from tutor.course.model import Exercise, Fault, LabBlock, Lesson, Option, Predict, Quiz, Step
from tutor.course.quotes import accepts

_LETTER = re.compile(r"\b(?i:option|answer|choice)s?\s+[A-D]\b|(?:选项|答案)\s*[A-DＡ-Ｄ]|\(\s*[a-dA-D]\s*\)")
_SOURCE = re.compile(r"[a-z][a-z0-9-]*\.[a-z_][a-z0-9_]*(\[\d+\])?\Z")


def check_lesson(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield what is wrong with a lesson by itself; `root` is the pack, where exercises have their folders."""
    rules = _Rules(lesson, root)
    for line, message in rules.all():
        yield Fault(lesson.file, line, message)


class _Rules:
    """The rules, each yielding (line, message) pairs."""

    def __init__(self, lesson: Lesson, root: Path) -> None:
        self.lesson = lesson
        self.root = root
        self.labs = {lab.id for lab in lesson.labs}

    def all(self) -> Iterator[tuple[int, Message]]:
        yield from self.ids()
        for step in self.lesson.steps:
            yield from self.step(step)
            for block in step.blocks:
                if isinstance(block, LabBlock):
                    yield from self.lab(block)
                elif isinstance(block, Predict):
                    yield from self.predict(block, step)
                elif isinstance(block, Quiz):
                    yield from self.quiz(block)
                elif isinstance(block, Exercise):
                    yield from self.exercise(block)

    def ids(self) -> Iterator[tuple[int, Message]]:
        """Steps, labs, questions and exercises have ids of their own."""
        seen: set[tuple[str, str]] = set()
        named = [("step", step.id, step.line) for step in self.lesson.steps]
        for step in self.lesson.steps:
            for block in step.blocks:
                if isinstance(block, LabBlock):
                    named.append(("lab", block.id, block.line))
                elif isinstance(block, (Predict, Quiz, Exercise)):
                    named.append(("question", block.id, block.line))
        for kind, id, line in named:
            if id and (kind, id) in seen:
                yield line, say("The id “{id}” is used twice.", id=id)
            seen.add((kind, id))

    def step(self, step: Step) -> Iterator[tuple[int, Message]]:
        """At most one lab per step, something to read or do, and quotes of labs that exist."""
        labs = [block for block in step.blocks if isinstance(block, LabBlock)]
        for lab in labs[1:]:
            yield lab.line, say("A step has at most one lab.")
        if not step.blocks and step.line > 1:
            yield step.line, say("The step is empty.")
        for quote in step.quotes():
            if not quote.lab:
                yield (
                    quote.line,
                    say("“{quote}” is no quote; write lab.value:.2f between the braces.", quote=quote.inner),
                )
            elif quote.lab not in self.labs:
                yield quote.line, say("The lesson has no lab with the id “{id}”.", id=quote.lab)
            elif quote.format and not accepts(quote.format, 1.0):
                yield quote.line, say("“{format}” is no number format; write .2f.", format=quote.format)

    def lab(self, block: LabBlock) -> Iterator[tuple[int, Message]]:
        """The lab exists and takes the parameters."""
        try:
            lab = declaration(block.name)
            build(lab.parameters, block.params, self.lesson.language)
        except UnknownLab as error:
            yield block.line, error.message
        except InvalidParameters as error:
            for problem in error.problems:
                yield block.line, problem.message

    def predict(self, block: Predict, step: Step) -> Iterator[tuple[int, Message]]:
        """A prediction has an answer and a lab that shows it."""
        yield from self.question(block)
        if step.lab is None:
            yield block.line, say("A prediction needs a lab in its step.")
        elif block.answer_from and block.answer_from.partition(".")[0] not in (step.lab.id, "quiz"):
            yield block.line, say("A prediction is answered by the lab of its own step.")
        elif step.blocks.index(block) > step.blocks.index(step.lab):
            yield block.line, say("A prediction stands before its lab.")

    def quiz(self, block: Quiz) -> Iterator[tuple[int, Message]]:
        """A quiz item explains every option."""
        yield from self.question(block)
        if block.type == "text" and not block.accept and not isinstance(block.answer, str):
            yield block.line, say("A question for text lists the answers it takes in “accept”.")
        for option in block.options:
            if not option.why:
                yield block.line, say("The option “{text}” has no “why”.", text=option.text[:40])

    def question(self, block: Predict | Quiz) -> Iterator[tuple[int, Message]]:
        """Whatever asks has one way to be answered."""
        if block.answer_from:
            yield from self.source(block)
        elif block.type in ("choice", "multi"):
            right = sum(option.right for option in block.options)
            if right == 0 or (block.type == "choice" and right != 1):
                yield block.line, say("Exactly one option must be right; {right} are.", right=right)
        elif block.type == "number" and not isinstance(block.answer, (int, float)):
            yield block.line, say("The answer must be a number.")
        elif block.type == "shape" and not isinstance(block.answer, tuple):
            yield block.line, say("The answer must be a list of blanks.")
        elif block.type == "direction" and block.answer not in ("up", "down", "same"):
            yield block.line, say("The answer must be up, down or same.")
        if block.type in ("choice", "multi"):
            yield from self.options(block, block.options)
        elif block.options and block.type != "direction":
            yield block.line, say("Only a choice has options.")
        texts = [block.explain, *(option.why for option in block.options)]
        if any(_LETTER.search(text) for text in texts):
            yield block.line, say("An explanation never names an option by a letter: options are shuffled.")

    def options(self, block: Predict | Quiz, options: tuple[Option, ...]) -> Iterator[tuple[int, Message]]:
        """There are at least two options, no two alike."""
        if len(options) < 2:
            yield block.line, say("A choice needs at least two options.")
        for values in ([option.value for option in options], [option.text for option in options]):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                yield block.line, say("Two options are alike: “{text}”.", text=twice[:40])

    def source(self, block: Predict | Quiz) -> Iterator[tuple[int, Message]]:
        """`answer_from` names a value of a lab of the lesson, or a function of the engine's quiz."""
        if not _SOURCE.match(block.answer_from) and not re.fullmatch(r"quiz\.[a-z_]\w*", block.answer_from):
            yield block.line, say("“{source}” names no value; write lab.value.", source=block.answer_from[:40])
        elif block.answer_from.partition(".")[0] not in {*self.labs, "quiz"}:
            yield block.line, say("The lesson has no lab with the id “{id}”.", id=block.answer_from.partition(".")[0])
        if block.answer is not None:
            yield block.line, say("There are two answers; write “answer” or “answer_from”.")

    def exercise(self, block: Exercise) -> Iterator[tuple[int, Message]]:
        """Statement and signature stand in the fence or in the exercise's folder."""
        folder = self.root / "exercises" / block.id
        in_folder = bool(re.fullmatch(r"E\d\d-\d+", block.id)) and folder.is_dir()
        if not in_folder and not (block.signature and block.statement):
            yield block.line, say("The exercise needs “signature” and “statement”.")
