"""A lesson printed from top to bottom: prose, questions, labs with their results; answers after the last step."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from engine.contract.labs import declaration
from engine.contract.message import Message, say
from engine.contract.report import Report, Scalar
from tutor.cli.engine import Engine
from tutor.cli.errors import CommandError
from tutor.cli.lesson_labs import own_params
from tutor.cli.output import Output
from tutor.cli.run import command_of, print_results
from tutor.course.grade import right_answer, shown_options
from tutor.course.model import Exercise, LabBlock, Lesson, Predict, Prose, Quiz, Step
from tutor.course.quotes import fill_quotes
from tutor.text import styles
from tutor.text.inline import line as inline
from tutor.text.prose import render
from tutor.text.styles import styled
from tutor.text.wrap import wrap

_INDENT = 2
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LessonText:
    """Prints a lesson. Without an engine the labs are named but not run."""

    def __init__(self, lesson: Lesson, out: Output, engine: Engine | None) -> None:
        self.failed = False
        self._lesson = lesson
        self._out = out
        self._engine = engine
        self._reports: dict[str, Report] = {}
        self._failures: dict[str, Message] = {}
        self._values: dict[str, dict[str, Scalar]] = {}

    # ── the labs

    def compute(self, labs: Sequence[LabBlock]) -> None:
        """Run the labs, each once; what fails is said where its result would stand."""
        if self._engine is not None:
            for lab in labs:
                self._run(lab, self._engine)

    def _run(self, lab: LabBlock, engine: Engine) -> None:
        language = self._lesson.language
        try:
            report = engine.run(lab.name, own_params(lab, language), lab.seed, language)
        except CommandError as error:
            self.failed = True
            self._failures[lab.id] = error.message
        else:
            self._reports[lab.id] = report
            self._values[lab.id] = dict(report.values)

    # ── the text

    def print(self, steps: Sequence[Step]) -> None:
        """Print the steps, then the answers to their questions."""
        self._heading(f"{self._lesson.info.id}  {self._lesson.title}", "═")
        for step in steps:
            self._out.print()
            number = self._lesson.steps.index(step) + 1
            self._heading(f"{number}. {step.title}", "─")
            self._note(f"{self._lesson.info.slug}#{step.id}")
            for block in step.blocks:
                self._out.print()
                self._block(block)
        questions = [question for step in steps for question in step.questions]
        if questions:
            self._out.print()
            self._heading(self._tr(say("Answers")), "═")
            for question in questions:
                self._out.print()
                self._answer(question)

    def _block(self, block: Prose | LabBlock | Predict | Quiz | Exercise) -> None:
        if isinstance(block, Prose):
            self._lines(render(block.source, self._out.width, quotes=fill_quotes(block.source, self._values)))
        elif isinstance(block, LabBlock):
            self._lab(block)
        elif isinstance(block, Exercise):
            self._exercise(block)
        else:
            self._question(block)

    def _lab(self, block: LabBlock) -> None:
        try:
            params = own_params(block, self._lesson.language)
        except CommandError as error:
            self._wrapped(Text(self._tr(error.message)))
            return
        lab = declaration(block.name)
        self._heading(self._tr(say("Lab {name}: {title}", name=lab.name, title=lab.title)), "┄")
        if block.notice:
            self._wrapped(inline(block.notice))
        self._note(command_of(lab, params, self._lesson.language))
        if block.id in self._reports:
            self._out.print()
            print_results(self._reports[block.id], self._out)
        elif block.id in self._failures:
            self._wrapped(Text(self._tr(self._failures[block.id])))

    def _question(self, question: Predict | Quiz) -> None:
        kind = say("Predict") if isinstance(question, Predict) else say("Quiz {id}", id=question.id)
        ask = Text.assemble((self._tr(kind) + "  ", styles.STRONG), inline(question.ask))
        self._wrapped(ask)
        for letter, option in zip(_LETTERS, shown_options(question, "1"), strict=False):
            self._wrapped(Text.assemble(f"{letter}) ", inline(option.text)), _INDENT)

    def _answer(self, question: Predict | Quiz) -> None:
        kind = say("Predict") if isinstance(question, Predict) else say("Quiz {id}", id=question.id)
        self._wrapped(Text.assemble((self._tr(kind) + "  ", styles.STRONG), inline(question.ask)))
        right = right_answer(question, self._values)
        if right:
            self._wrapped(Text.assemble("→ ", inline(right)), _INDENT)
        for letter, option in zip(_LETTERS, shown_options(question, "1"), strict=False):
            if option.why:
                self._wrapped(
                    Text.assemble(f"{letter}) ", inline(option.text), self._tr(say(": ")), inline(option.why)), _INDENT
                )
        if question.explain:
            self._wrapped(inline(question.explain), _INDENT)

    def _exercise(self, exercise: Exercise) -> None:
        self._wrapped(Text(self._tr(say("Exercise {id}", id=exercise.id)), style=styles.STRONG))
        self._wrapped(Text(exercise.signature, style=styles.CODE), _INDENT)
        self._wrapped(inline(exercise.statement), _INDENT)

    # ── lines

    def _tr(self, message: Message) -> str:
        return self._out.tr(message)

    def _heading(self, title: str, rule: str) -> None:
        line = inline(title)
        self._wrapped(Text.assemble(line, style=styles.HEADING))
        self._out.print(styled(rule * min(self._out.width, line.cell_len), styles.MUTED))

    def _note(self, text: str) -> None:
        self._wrapped(styled(text, styles.MUTED))

    def _wrapped(self, text: Text, indent: int = 0) -> None:
        lines = wrap(text, self._out.width - indent)
        self._lines([Text(" " * indent).append_text(line) for line in lines])

    def _lines(self, lines: Sequence[Text]) -> None:
        for line in lines:
            line.rstrip()
            self._out.print(line)
