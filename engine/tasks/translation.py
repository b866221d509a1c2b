"""MT: English into Chinese in a toy language whose alignments are known (see engine.contract.toy_translation)."""

from __future__ import annotations

from engine.contract.toy_translation import CHINESE, ENGLISH, OBJECTS, PLACES, SUBJECTS, TIMES, VERBS, Clause
from engine.tasks.draws import Draws
from engine.tasks.split import held_out
from engine.tasks.vocabulary import Vocabulary

BEGIN, END = "<bos>", "<eos>"
SOURCE = Vocabulary(ENGLISH)
TARGET = Vocabulary((BEGIN, END, *CHINESE))
LONGEST_SOURCE = 8
LONGEST_TARGET = 9  # with the end mark


def draw_clause(draws: Draws) -> Clause:
    """Draw one sentence; place and time are there with probability .7, "some" with .5."""
    return Clause(
        subject=draws.choice(tuple(SUBJECTS)),
        verb=draws.choice(tuple(VERBS)),
        some=draws.chance(0.5),
        object=draws.choice(tuple(OBJECTS)),
        place=draws.choice(tuple(PLACES)) if draws.chance(0.7) else "",
        time=draws.choice(tuple(TIMES)) if draws.chance(0.7) else "",
    )


def draw_clauses(draws: Draws, count: int, *, test: bool) -> list[Clause]:
    """Draw `count` sentences of the test part or of the training part, which have none in common."""
    clauses: list[Clause] = []
    while len(clauses) < count:
        clause = draw_clause(draws)
        if held_out(clause.english) == test:
            clauses.append(clause)
    return clauses
