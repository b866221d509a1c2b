"""What a course is made of: parts, lessons, steps and the blocks of a step.

Everything here is immutable and knows the line it came from, so that whoever finds a fault can say where it is.
(Structs, for they are made ten times as fast as dataclasses, and the first screen imports them; the blocks have tags,
by which the start cache tells one from another.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from engine.contract.message import Message
from engine.contract.report import Scalar

FILE = "course.toml"
Language = str
Values = Mapping[str, Mapping[str, Scalar]]
"""What the lab blocks of a lesson have found so far: block id → the `values` of its report."""


class Fault(msgspec.Struct, frozen=True):
    """Something wrong in a lesson pack; `file` is relative to the pack, `line` counts from 1."""

    file: str
    line: int
    message: Message

    @property
    def place(self) -> str:
        """Return "file:line"."""
        return f"{self.file}:{self.line}"


class Bilingual(msgspec.Struct, frozen=True):
    """A text in both languages."""

    zh: str
    en: str

    def of(self, language: Language) -> str:
        """Return the Chinese text for "zh", else the English one."""
        return self.zh if language == "zh" else self.en


class Part(msgspec.Struct, frozen=True):
    """A part of the course, e.g. "Attention"."""

    id: str
    title: Bilingual


class LessonInfo(msgspec.Struct, frozen=True):
    """What `course.toml` says about a lesson; `covers` lists source rows and errata by step id."""

    id: str
    slug: str
    title: Bilingual
    part: str
    minutes: int
    prerequisites: tuple[str, ...] = ()
    labs: tuple[str, ...] = ()
    objectives: Bilingual = Bilingual("", "")
    covers: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Return the file name of the lesson without its ending, e.g. "08-self-attention"."""
        return f"{self.id[1:]}-{self.slug}"


class Course(msgspec.Struct, frozen=True):
    """The parts and lessons of a course, in order."""

    parts: tuple[Part, ...]
    lessons: tuple[LessonInfo, ...]

    def lesson(self, id: str) -> LessonInfo | None:
        """Return the lesson with this id or slug, or None."""
        return next((lesson for lesson in self.lessons if id in (lesson.id, lesson.slug)), None)

    def of_part(self, part: Part) -> tuple[LessonInfo, ...]:
        """Return the lessons of `part`, in order."""
        return tuple(lesson for lesson in self.lessons if lesson.part == part.id)


class Prose(msgspec.Struct, frozen=True, tag=True, tag_field="block"):
    """Markdown between two fenced blocks; diagrams (```text) stay inside."""

    source: str
    line: int


Relation = Literal["==", "!=", "<", "<=", ">", ">=", "~"]


class Assertion(msgspec.Struct, frozen=True):
    """A claim about the value of a run: `value` is a name, or a name with an index ("weights[0]")."""

    value: str
    relation: str
    bound: Scalar
    tolerance: float
    line: int


class LabBlock(msgspec.Struct, frozen=True, tag=True, tag_field="block"):
    """A lab in a lesson with the lesson's own parameters; `id` is what quotes and answers refer to."""

    id: str
    name: str
    params: Mapping[str, Any]
    seed: int
    notice: str
    asserts: tuple[Assertion, ...]
    line: int


class Option(msgspec.Struct, frozen=True):
    """One answer to choose: `why` says why it is right or wrong, and never names a letter."""

    text: str
    value: str
    right: bool = False
    why: str = ""


PredictType = Literal["choice", "number", "shape", "direction", "text"]
QuizType = Literal["choice", "number", "shape", "text", "multi"]
Answer = str | float | tuple[str, ...] | None


class Predict(msgspec.Struct, frozen=True, tag=True, tag_field="block"):
    """A question asked before the lab of its step shows its result.

    `answer_from` ("hand.largest_weight", with an index if need be) names the value that answers it; else `answer` does.
    A direction is answered by "up", "down" or "same".
    """

    id: str
    ask: str
    type: str
    options: tuple[Option, ...]
    answer: Answer
    answer_from: str
    tolerance: float
    explain: str
    unit: str
    line: int


class Quiz(msgspec.Struct, frozen=True, tag=True, tag_field="block"):
    """A question with one right answer (with several for type "multi"), explained."""

    id: str
    type: str
    ask: str
    options: tuple[Option, ...]
    answer: Answer
    answer_from: str
    tolerance: float
    accept: tuple[str, ...]
    explain: str
    line: int


class Exercise(msgspec.Struct, frozen=True, tag=True, tag_field="block"):
    """A programming task: the signature of the function to write and what it must do."""

    id: str
    signature: str
    statement: str
    line: int


Block = Prose | LabBlock | Predict | Quiz | Exercise


class Quote(msgspec.Struct, frozen=True):
    """A live number in prose, `{{hand.weights[0]:.4f}}`; `inner` is the text between the braces."""

    inner: str
    lab: str
    value: str
    format: str
    line: int


class Step(msgspec.Struct, frozen=True):
    """One idea: a title and its blocks, in order."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    line: int

    @property
    def lab(self) -> LabBlock | None:
        """Return the step's lab, or None."""
        return next((block for block in self.blocks if isinstance(block, LabBlock)), None)

    @property
    def predictions(self) -> tuple[Predict, ...]:
        """Return the questions asked before the lab."""
        return tuple(block for block in self.blocks if isinstance(block, Predict))

    @property
    def quizzes(self) -> tuple[Quiz, ...]:
        """Return the quiz items."""
        return tuple(block for block in self.blocks if isinstance(block, Quiz))

    @property
    def questions(self) -> tuple[Predict | Quiz, ...]:
        """Return everything that is asked, the predictions first."""
        return (*self.predictions, *self.quizzes)

    def quotes(self) -> tuple[Quote, ...]:
        """Return the live numbers of the step's prose, in order."""
        from tutor.course.quotes import find_quotes

        return tuple(
            quote
            for block in self.blocks
            if isinstance(block, Prose)
            for quote in find_quotes(block.source, block.line)
        )


class Lesson(msgspec.Struct, frozen=True):
    """A lesson in one language. `file` is relative to the pack; `faults` are what could not be understood."""

    info: LessonInfo
    language: Language
    title: str
    steps: tuple[Step, ...]
    file: str = ""
    faults: tuple[Fault, ...] = ()

    def step(self, id: str) -> Step | None:
        """Return the step called `id`, or None."""
        return next((step for step in self.steps if step.id == id), None)

    @property
    def labs(self) -> tuple[LabBlock, ...]:
        """Return the lab blocks of all steps."""
        return tuple(step.lab for step in self.steps if step.lab is not None)

    def lab(self, id: str) -> LabBlock | None:
        """Return the lab block called `id`, or None."""
        return next((lab for lab in self.labs if lab.id == id), None)


class Place(msgspec.Struct, frozen=True):
    """Where in the course: a lesson, and a step of it when one was named."""

    info: LessonInfo
    step: str = ""
