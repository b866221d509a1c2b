"""Rules for the two languages of a lesson: everything but the text is equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.contract.kinds import Text
from engine.contract.labs import UnknownLab, declaration
from engine.contract.message import Message, say
from engine.contract.parameters import kinds
from tutor.course.formulas import formulas
from tutor.course.model import Block, Exercise, Fault, LabBlock, Lesson, Predict, Prose, Quiz, Step

_WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\{[^{}]*\}|\s+")


def check_pair(one: Lesson, other: Lesson) -> Iterator[Fault]:
    """Yield where `one` differs from the same lesson in the `other` language, at the place in `one`."""
    theirs = {step.id: step for step in other.steps}
    ours = {step.id for step in one.steps}
    for step in one.steps:
        if step.id not in theirs:
            message = say("{other} has no step “{step}”.", other=other.file, step=step.id)
            yield Fault(one.file, step.line, message)
            continue
        for line, message in _step(step, theirs[step.id], other.file):
            yield Fault(one.file, line, message)
    for step in other.steps:
        if step.id not in ours:
            yield Fault(other.file, step.line, say("{other} has no step “{step}”.", other=one.file, step=step.id))
    if {step.id for step in one.steps} == set(theirs) and [s.id for s in one.steps] != list(theirs):
        yield Fault(one.file, 1, say("{other} has the steps in another order.", other=other.file))


def _step(one: Step, other: Step, file: str) -> Iterator[tuple[int, Message]]:
    ours, theirs = _asked(one), _asked(other)
    if [(type(block), block.id) for block in ours] != [(type(block), block.id) for block in theirs]:
        names = ", ".join(block.id for block in theirs) or "–"
        yield one.line, say("{other} has other blocks in this step: {names}.", other=file, names=names)
    else:
        for mine, its in zip(ours, theirs, strict=True):
            for key, value in _facts(mine).items():
                if value != _facts(its)[key]:
                    yield (
                        mine.line,
                        say(
                            "“{key}” of “{id}” differs from {other}:{line}.",
                            key=key,
                            id=mine.id,
                            other=file,
                            line=its.line,
                        ),
                    )
    yield from _formulas(one, other, file)
    quotes = {quote.inner for quote in one.quotes()} ^ {quote.inner for quote in other.quotes()}
    for quote in sorted(quotes):
        yield one.line, say("Only one language quotes “{quote}” in this step.", quote=quote)


def _asked(step: Step) -> list[LabBlock | Predict | Quiz | Exercise]:
    return [block for block in step.blocks if not isinstance(block, Prose)]


def _facts(block: Block) -> dict[str, Any]:
    """Return what must be equal in both languages."""
    if isinstance(block, LabBlock):
        claims = [(claim.value, claim.relation, claim.bound, claim.tolerance) for claim in block.asserts]
        return {"name": block.name, "params": _plain(block), "seed": block.seed, "assert": claims}
    if isinstance(block, (Predict, Quiz)):
        return {
            "type": block.type,
            "options": [(option.value, option.right) for option in block.options],
            "answer": block.answer,
            "answer_from": block.answer_from,
            "tolerance": block.tolerance,
        }
    if isinstance(block, Exercise):
        return {"signature": block.signature}
    return {}


def _plain(block: LabBlock) -> Mapping[str, Any]:
    """Return the parameters without the texts, of which each language has its own."""
    try:
        texts = {name for name, kind in kinds(declaration(block.name).parameters).items() if isinstance(kind, Text)}
    except UnknownLab:
        return block.params
    return {name: value for name, value in block.params.items() if name not in texts}


def _formulas(one: Step, other: Step, file: str) -> Iterator[tuple[int, Message]]:
    """Displays are equal one by one; formulas in running text as a set, for languages order them differently."""
    mine, its = formulas(one), formulas(other)
    displays = [[_bare(formula.tex) for formula in found if formula.display] for found in (mine, its)]
    if displays[0] != displays[1]:
        yield (
            one.line,
            say("The displayed formulas of this step differ from {other}:{line}.", other=file, line=other.line),
        )
    inlines = [{_bare(formula.tex) for formula in found if not formula.display} for found in (mine, its)]
    for tex in sorted(inlines[0] ^ inlines[1]):
        yield one.line, say("Only one language has the formula “{tex}” in this step.", tex=tex[:60])


def _bare(tex: str) -> str:
    return _WORDS.sub("", tex)
