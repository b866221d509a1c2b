"""Export and import: the same records in another file, merged once; the report says what the records say."""

from __future__ import annotations

import json
import math
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.i18n import catalogue
from tutor.progress.export import ImportRefusedError, export_json, import_json
from tutor.progress.records import Answer, Position, Prediction, Record, Run, Setting, StepVisit
from tutor.progress.report import export_markdown
from tutor.progress.store import Store

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)

moments = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(timezone.utc))
ids = st.sampled_from(["self-attention", "自注意力", "🎉"])
values = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.floats(), max_size=2)
)
uids = st.uuids().map(lambda uid: uid.hex)
params = st.dictionaries(st.text(max_size=5), values, max_size=3)
seeds = st.integers(0, 2**63 - 1)
seconds = st.floats(0, 1e6)
confidences = st.none() | st.integers(0, 100)
outcomes = st.sampled_from(["hit", "miss", "skipped"])
records: st.SearchStrategy[list[Record]] = st.lists(
    st.one_of(
        st.builds(Position, ids, ids, moments),
        st.builds(StepVisit, ids, ids, moments, moments, st.none() | moments),
        st.builds(Answer, ids, ids, ids, values, st.booleans(), moments, uids),
        st.builds(Prediction, ids, ids, ids, values, confidences, outcomes, values, moments, uids),
        st.builds(
            Run, ids, params, seeds, st.just("cpu"), seconds, params, st.none() | ids, st.none() | ids, moments, uids
        ),
        st.builds(Setting, ids, values, moments),
    ),
    max_size=12,
)


def nowhere() -> Store:
    """Return a store without a file: quick, and as good for these claims."""
    return Store(None)


def filled(*parts: list[Record]) -> Store:
    store = nowhere()
    for part in parts:
        store.merge(part).result()
    return store


@settings(max_examples=60, deadline=None)
@given(records)
def test_an_export_imported_into_an_empty_store_exports_the_same(some: list[Record]) -> None:
    data = export_json(filled(some))
    store = nowhere()
    import_json(store, data).result()
    assert sorted(export_json(store).splitlines()) == sorted(data.splitlines())
    json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@settings(max_examples=60, deadline=None)
@given(records)
def test_importing_twice_changes_nothing(some: list[Record]) -> None:
    store = filled(some)
    before = export_json(store)
    import_json(store, before).result()
    import_json(store, before).result()
    assert export_json(store) == before


@settings(max_examples=60, deadline=None)
@given(records, records)
def test_merging_two_exports_keeps_all_events_and_the_newest_choices(one: list[Record], two: list[Record]) -> None:
    store = nowhere()
    both: list[Record] = [*one, *two]
    for part in (one, two):
        import_json(store, export_json(filled(part))).result()
    events = {record.uid for record in both if isinstance(record, Answer | Prediction | Run)}
    kept: list[Answer | Prediction | Run] = [*store.answers(), *store.predictions(), *store.runs()]
    assert {record.uid for record in kept} == events
    newest = max((r.at for r in both if isinstance(r, Position)), default=None)
    position = store.position()
    assert (position.at if position else None) == newest
    finished = [r for r in both if isinstance(r, StepVisit) and r.finished_at]
    assert {(v.lesson, v.step) for v in store.visits() if v.finished_at} == {(r.lesson, r.step) for r in finished}


def test_an_import_reaches_the_file() -> None:
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        answer = Answer("self-attention", "scale", "Q1", "🐈", True, NOON)
        assert import_json(store, export_json(filled([answer]))).result() is True
        assert store.close()
        assert Store(Path(name)).answers() == [answer]


def test_numbers_that_json_cannot_write_come_back() -> None:
    run = Run("sdpa", {}, 0, "cpu", 0.1, {"a": math.inf, "b": [-math.inf, 1.0], "c": "nan"})
    store = nowhere()
    import_json(store, export_json(filled([run]))).result()
    assert store.runs() == [run]


def changed(**fields: object) -> bytes:
    return json.dumps({**json.loads(export_json(filled([Answer("l", "s", "q", 1, True, NOON)]))), **fields}).encode()


BAD_ANSWER = {
    "lesson": "l",
    "step": "s",
    "quiz": "q",
    "answer": 1,
    "right": "yes",
    "at": "2026-01-02T12:00:00Z",
    "uid": "u",
}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not a progress file that tutor exported (JSON"),
        (b"\xff\xfe\x00binary", "not a progress file that tutor exported (JSON"),
        (b"[" * 100_000, "not a progress file that tutor exported (JSON"),
        (b"{}", "not a progress file that tutor exported (JSON"),
        (changed(format="other"), "format is not as it should be"),
        (changed(schema=2), "exported by a newer tutor"),
        (changed(answers=[BAD_ANSWER]), "answers[0].right is not as it should be"),
        (changed(answers=[{**BAD_ANSWER, "right": True, "at": "2026-01-02T12:00:00"}]), "answers[0].at is not as"),
        (
            changed(answers=[{**BAD_ANSWER, "right": True, "answer": "\ud800"}]),
            "not a progress file that tutor exported",
        ),
        (changed(runs=7), "runs is not as it should be"),
    ],
)
def test_a_file_that_is_no_export_is_refused_in_one_sentence_and_nothing_is_taken_in(
    data: bytes, sentence: str
) -> None:
    store = nowhere()
    with pytest.raises(ImportRefusedError) as refused:
        import_json(store, data)
    assert sentence in str(refused.value)
    assert refused.value.message.id in catalogue()
    assert store.answers() == []


def learner() -> Store:
    def at(minute: int) -> datetime:
        return NOON + timedelta(minutes=minute)

    return filled(
        [
            StepVisit("self-attention", "scale", at(0), at(1), at(1)),
            StepVisit("self-attention", "mask", at(2), at(2)),
            Answer("self-attention", "scale", "Q1", "a", False, at(1)),
            Answer("self-attention", "scale", "Q1", "b", True, at(2)),
            Answer("self-attention", "mask", "Q2", "a", False, at(3)),
            Answer("extra|lesson", "one", "Q9", "a", False, at(3)),
            Prediction("self-attention", "scale", "p", 1, 80, "hit", 1, at(1)),
            Prediction("self-attention", "mask", "p", 1, 60, "miss", 2, at(2)),
            Prediction("self-attention", "mask", "q", None, None, "skipped", 2, at(2)),
            Run("sdpa", {}, 0, "cpu", 0.1, {}),
            Run("heads", {}, 0, "cpu", 0.1, {}),
            Run("heads", {}, 1, "cpu", 0.1, {}),
        ]
    )


def test_the_report_counts_what_the_learner_did() -> None:
    lines = export_markdown(learner(), {"rnn": "RNN", "self-attention": "Self-attention"}, "en").splitlines()
    assert lines[0] == "# Learning report"
    assert "| Self-attention | 1/2 | 1/2 | 1/2 | 2026-01-02 |" in lines
    assert r"| extra\|lesson | 0/0 | 0/1 | 0/0 |  |" in lines
    assert "Over 2 predictions with a confidence you were 70 % sure and 50 % right." in lines
    assert [line for line in lines if line.startswith("- ")] == [
        "- Self-attention: Q2 (self-attention#mask)",
        r"- extra\|lesson: Q9 (extra\|lesson#one)",
        "- heads: 2",
        "- sdpa: 1",
    ]


def test_the_report_is_in_chinese_for_a_chinese_reader() -> None:
    lines = export_markdown(learner(), {"self-attention": "自注意力"}, "zh").splitlines()
    assert lines[0] == "# 学习报告"
    assert "| 自注意力 | 1/2 | 1/2 | 1/2 | 2026-01-02 |" in lines
    assert "在 2 次填写了把握程度的预测中，你平均有 70% 的把握，实际命中 50%。" in lines


def test_the_report_of_nothing_says_so() -> None:
    assert "Nothing yet" in export_markdown(nowhere(), {"rnn": "RNN"}, "en")
