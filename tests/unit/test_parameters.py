"""What a learner may type: every bad input gets one clear sentence, in both languages; nothing is clamped."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract import labs as declared
from engine.contract.kinds import Choice, Choices, Integer, Numbers, Real
from engine.contract.parameters import InvalidParameters, Problem, build, defaults, kinds, validate
from tutor.i18n import translate

TEXTS = [("sdpa", "sentence"), ("shuffle", "text"), ("heads", "sentence")]
MODES = {"sdpa": {"mode": "own-sentence"}}


def refused(lab: str, language: str = "en", **given: Any) -> list[Problem]:
    """Return why the lab refuses these parameters."""
    with pytest.raises(InvalidParameters) as caught:
        build(declared.declaration(lab).parameters, given, language)
    return caught.value.problems


BAD_TEXTS = [
    ("one token", "hello", "{label} has 1 token (“hello”), but at least 2 are needed to compare them."),
    ("one Chinese character", "猫", "{label} has 1 token (“猫”), but at least 2 are needed to compare them."),
    (
        "25 tokens",
        "a b c d e " * 5,
        "{label} has 25 tokens, but at most 24 are taken; shorten it.",
    ),
    ("25 characters", "天" * 25, "{label} has 25 tokens, but at most 24 are taken; shorten it."),
    ("nothing", "", "{label} is empty; type at least 2 words or Chinese characters."),
    ("spaces", " \t\n\u3000 ", "{label} is empty; type at least 2 words or Chinese characters."),
    ("an escape", "a \x1b[2J b", "{label} holds the control character U+001B at position 3; remove it."),
    ("a null byte", "a\0b", "{label} holds the control character U+0000 at position 2; remove it."),
    (
        "a bidirectional override",
        "ab \u202e cd",
        "{label} holds the control character U+202E at position 4; remove it.",
    ),
    ("bytes that are not UTF-8", "caf\udce9 au", "{label} holds bytes that are not UTF-8 text; save it as UTF-8."),
    ("10 MB", "word " * 2_000_000, "{label} has 10,000,000 characters; at most 2,000 are taken."),
]


@pytest.mark.parametrize(("lab", "field"), TEXTS, ids=[lab for lab, _ in TEXTS])
@pytest.mark.parametrize(("text", "sentence"), [bad[1:] for bad in BAD_TEXTS], ids=[bad[0] for bad in BAD_TEXTS])
def test_a_bad_text_gets_one_sentence_in_each_language(lab: str, field: str, text: str, sentence: str) -> None:
    (problem,) = refused(lab, **{field: text, **MODES.get(lab, {})})
    assert problem.field == field
    assert str(problem.message) == sentence.format(label=field)
    chinese = translate(problem.message, "zh")
    assert chinese.startswith(("句子", "文字"))
    assert len(chinese) < 80
    assert "\x1b" not in chinese


def test_heads_that_do_not_divide_name_those_that_do_in_both_languages() -> None:
    (problem,) = refused("heads", embed_size="256", heads="3")
    assert problem.field == "heads"
    assert str(problem.message) == (
        "3 heads cannot share an embedding of width 256 equally; choose one of: 1, 2, 4, 8."
    )
    assert translate(problem.message, "zh") == "宽度为 256 的嵌入不能平均分给 3 个头；可选：1, 2, 4, 8。"


def test_of_the_64_pairs_of_width_and_heads_the_26_that_cannot_work_are_refused() -> None:
    params = declared.declaration("heads").parameters
    pairs = [params("a b", width, heads) for width in range(64, 513, 64) for heads in range(1, 9)]
    assert len(pairs) == 64
    assert [[problem.field for problem in validate(pair)] for pair in pairs].count(["heads"]) == 26


def test_only_heads_that_divide_are_offered() -> None:
    params = declared.declaration("heads").parameters
    offered = {width: build(params, {"embed_size": width}, "en").options("heads") for width in (256, 192, 320, 448)}
    assert offered == {256: (1, 2, 4, 8), 192: (1, 2, 3, 4, 6, 8), 320: (1, 2, 4, 5, 8), 448: (1, 2, 4, 7, 8)}


@pytest.mark.parametrize(
    ("lab", "field", "value", "sentence"),
    [
        (
            "heads",
            "embed_size",
            100,
            "embedding width cannot be “100”; choose one of: 64, 128, 192,",
        ),
        ("heads", "heads", "many", "number of heads cannot be “many”; choose one of: 1, 2, 3, 4, 5, 6, 7, 8."),
        ("heads", "position", "maybe", "position encoding is on or off, not “maybe”."),
        ("heads", "weights", "trained", "weights cannot be “trained”; choose one of: random."),
        ("sqrt-dk", "keys", 1, "number of keys is 1, but it must lie between 2 and 64."),
        ("sqrt-dk", "keys", "1.5", "number of keys takes a whole number, not “1.5”."),
        (
            "sqrt-dk",
            "trials",
            10**400,
            "number of trials takes a whole number, not “1000000000",
        ),
        ("sqrt-dk", "scale", "", "scaling needs at least one of: none, sqrt, d_k."),
        ("sqrt-dk", "scale", "none,half", "scaling cannot include “half”; choose from: none, sqrt, d_k."),
        ("sqrt-dk", "d_k", 2, "key width d_k cannot be “2”; choose one of: 1, 4, 16, 64, 256, 1024."),
        ("sdpa", "temperature", "hot", "temperature τ takes a number, not “hot”."),
        ("sdpa", "temperature", "nan", "temperature τ takes a number, not “nan”."),
        ("sdpa", "temperature", 7, "temperature τ is 7, but it must lie between 0.1 and 5.0."),
        ("sdpa", "keys", "1 inf", "keys K takes numbers such as “1 0; 0 1”, not “1 inf”."),
        ("sdpa", "keys", "1e9 0", "keys K takes finite numbers between −1000 and 1000."),
        ("sdpa", "keys", "; ".join(["1 0"] * 13), "keys K is 13 × 2; at most 12 × 16 is taken."),
        ("sdpa", "sentense", "a b", "There is no parameter “sentense”; did you mean “sentence”?"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(lab: str, field: str, value: object, sentence: str) -> None:
    typed: dict[str, Any] = {field: value}
    (problem,) = refused(lab, **typed)
    assert problem.field == field
    assert str(problem.message).startswith(sentence)
    assert translate(problem.message, "zh") != str(problem.message)


@pytest.mark.parametrize("name", declared.names())
def test_defaults_are_read_back_from_what_a_form_would_show(name: str) -> None:
    params = declared.declaration(name).parameters
    for language in ("zh", "en"):
        built = build(params, {}, language)
        shown = {field: as_typed(value) for field, value in defaults(params, language).items()}
        assert build(params, shown, language) == built


def as_typed(value: Any) -> str:
    """Return a value as a learner would type it."""
    if isinstance(value, tuple):
        return (
            "; ".join(" ".join(map(str, row)) for row in value)
            if value and isinstance(value[0], tuple)
            else ",".join(map(str, value))
        )
    return str(value)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(declared.names()).flatmap(
        lambda name: st.tuples(
            st.just(name),
            st.dictionaries(
                st.sampled_from(list(kinds(declared.declaration(name).parameters))),
                st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.floats())),
            ),
        )
    )
)
def test_whatever_is_typed_gives_valid_parameters_or_sentences(typed: tuple[str, dict[str, Any]]) -> None:
    name, given_values = typed
    params = declared.declaration(name).parameters
    try:
        built = build(params, given_values, "zh")
    except InvalidParameters as error:
        for problem in error.problems:
            assert "{" not in translate(problem.message, "zh") or any("{" in str(v) for v in given_values.values())
            assert "\n" not in translate(problem.message, "en")
    else:
        assert validate(built) == []


@pytest.mark.parametrize("name", declared.names())
def test_the_ends_of_every_range_are_accepted_and_the_next_beyond_is_not(name: str) -> None:
    for field, kind in kinds(declared.declaration(name).parameters).items():
        if isinstance(kind, Integer):
            assert [kind.read(n) for n in (kind.minimum, kind.maximum)] == [kind.minimum, kind.maximum]
            assert not isinstance(kind.read(kind.minimum - 1), int)
        elif isinstance(kind, Real):
            assert [kind.read(x) for x in (kind.minimum, kind.maximum)] == [kind.minimum, kind.maximum]
            assert not isinstance(kind.read(kind.maximum * 1.001), float)
        elif isinstance(kind, Choice):
            assert [kind.read(str(option)) for option in kind.options] == list(kind.options)
        elif isinstance(kind, Choices):
            assert kind.read(list(reversed(kind.options))) == kind.options
        elif isinstance(kind, Numbers):
            assert kind.read("") == ()
        assert field


def test_estimates_grow_with_what_takes_the_time() -> None:
    lab = declared.declaration("sqrt-dk")
    small, large = (lab.estimate(build(lab.parameters, {"trials": n}, "en")).seconds for n in (100, 5000))
    assert small < large < 20
