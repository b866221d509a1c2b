"""A learner's progress as a page of Markdown to keep or to hand in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from engine.contract.message import Message, say
from tutor.i18n import translate
from tutor.progress.records import Answer, LessonProgress, Prediction, now
from tutor.progress.store import Store

Speak = Callable[[Message], str]


def export_markdown(store: Store, titles: Mapping[str, str], language: str) -> str:
    """Return the session report; `titles` maps lesson ids to titles in `language` and gives the order.

    Lessons that `titles` lacks come last, under their id.
    """

    def speak(message: Message) -> str:
        return translate(message, language)

    progress = store.lesson_progress()
    names = {lesson: titles.get(lesson, lesson) for lesson in [*titles, *progress] if lesson in progress}
    head = [
        f"# {speak(say('Learning report'))}",
        "",
        speak(say("As of {date}.", date=f"{now().astimezone():%Y-%m-%d %H:%M}")),
    ]
    if not progress:
        return "\n".join([*head, "", speak(say("Nothing yet: open a lesson, answer, predict.")), ""])
    sections = (
        _lessons(names, progress, speak),
        _predictions(store.predictions(), speak),
        _wrong_answers(store.answers(), names, speak),
        _runs(Counter(run.lab for run in store.runs()), speak),
    )
    return "\n".join([*head, *(line for section in sections if section for line in ("", *section)), ""])


def _lessons(names: Mapping[str, str], progress: Mapping[str, LessonProgress], speak: Speak) -> list[str]:
    heads = (
        say("Lesson"),
        say("Steps finished/seen"),
        say("Quiz items right/answered"),
        say("Predictions hit/made"),
        say("Last visit"),
    )
    rows = [[speak(head) for head in heads], ["---", "---:", "---:", "---:", "---"]]
    for lesson, name in names.items():
        p = progress[lesson]
        rows.append(
            [
                _cell(name),
                f"{p.steps_finished}/{p.steps_seen}",
                f"{p.quizzes_right}/{p.quizzes_answered}",
                f"{p.predictions_hit}/{p.predictions_made}",
                f"{p.last_visit.astimezone():%Y-%m-%d}" if p.last_visit else "",
            ]
        )
    return [f"| {' | '.join(row)} |" for row in rows]


def _predictions(predictions: Iterable[Prediction], speak: Speak) -> list[str]:
    """Compare how sure the learner was with how often they were right, over all predictions with a confidence."""
    sure = [
        (p.confidence, p.outcome == "hit") for p in predictions if p.confidence is not None and p.outcome != "skipped"
    ]
    if not sure:
        return []
    return [
        f"## {speak(say('How well you know what you know'))}",
        "",
        speak(
            say(
                "Over {n} predictions with a confidence you were {confidence:.0f} % sure and {hits:.0f} % right.",
                n=len(sure),
                confidence=sum(confidence for confidence, _ in sure) / len(sure),
                hits=100 * sum(hit for _, hit in sure) / len(sure),
            )
        ),
    ]


def _wrong_answers(answers: Iterable[Answer], names: Mapping[str, str], speak: Speak) -> list[str]:
    """List the quiz items whose latest answer is wrong."""
    latest = {(answer.lesson, answer.quiz): answer for answer in answers}
    wrong = [answer for answer in latest.values() if not answer.right]
    if not wrong:
        return []
    order = list(names)
    lines = [
        f"- {_cell(names[answer.lesson])}: {_cell(answer.quiz)} ({_cell(answer.lesson)}#{_cell(answer.step)})"
        for answer in sorted(wrong, key=lambda answer: (order.index(answer.lesson), answer.quiz))
    ]
    return [f"## {speak(say('To look at again'))}", "", *lines]


def _runs(counts: Counter[str], speak: Speak) -> list[str]:
    if not counts:
        return []
    lines = [f"- {_cell(lab)}: {n}" for lab, n in counts.most_common()]
    return [f"## {speak(say('Runs per lab'))}", "", *lines]


def _cell(text: str) -> str:
    """Keep a text on one line and inside its table cell."""
    return " ".join(text.split()).replace("|", "\\|")
