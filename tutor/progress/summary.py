"""How far each lesson has come, counted from the records."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from tutor.progress.records import LessonProgress

# max(at) makes SQLite take the other columns from the latest row of each group ("bare columns", lang_select §2.5).
_PROGRESS = """
WITH steps AS (
    SELECT lesson, count(*) AS seen, count(finished_at) AS finished, max(last_at) AS last FROM visit GROUP BY lesson
), quizzes AS (
    SELECT lesson, count(*) AS answered, sum(right) AS right
    FROM (SELECT lesson, right, max(at) FROM answer GROUP BY lesson, quiz) GROUP BY lesson
), predictions AS (
    SELECT lesson, sum(outcome <> 'skipped') AS made, sum(outcome = 'hit') AS hit
    FROM (SELECT lesson, outcome, max(at) FROM prediction GROUP BY lesson, step, predict) GROUP BY lesson
)
SELECT lesson, coalesce(seen, 0), coalesce(finished, 0), coalesce(answered, 0), coalesce(right, 0),
       coalesce(made, 0), coalesce(hit, 0), last
FROM (SELECT lesson FROM steps UNION SELECT lesson FROM quizzes UNION SELECT lesson FROM predictions)
LEFT JOIN steps USING (lesson) LEFT JOIN quizzes USING (lesson) LEFT JOIN predictions USING (lesson)
ORDER BY lesson
"""


def lesson_progress(source: sqlite3.Connection) -> dict[str, LessonProgress]:
    """Return the progress of every lesson that was touched."""
    return {
        lesson: LessonProgress(
            seen, finished, answered, right, made, hit, datetime.fromisoformat(last) if last else None
        )
        for lesson, seen, finished, answered, right, made, hit, last in source.execute(_PROGRESS)
    }
