"""Stepping and writing parameter values: always inside the range, always read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.contract.kinds import Boolean, Choice, Choices, Integer, Kind, Numbers, Real
from engine.contract.labs import declaration, names
from engine.contract.message import Message, say
from engine.contract.parameters import defaults, kinds
from tutor.parameter_values import editable, stepped, steps_by_arrows, toggled, written

LABEL = say("x")
FIELDS = [(lab, field, kind) for lab in names() for field, kind in kinds(declaration(lab).parameters).items()]


@given(st.integers(2, 64), st.integers(-200, 200))
def test_an_integer_stays_in_its_range(value: int, steps: int) -> None:
    kind = Integer(LABEL, 2, 64)
    assert kind.read(stepped(kind, value, steps)) == max(2, min(64, value + steps))


def test_an_integer_with_a_step_moves_by_it() -> None:
    assert stepped(Integer(LABEL, 64, 512, 64), 256, 1) == 320


@given(st.floats(0.1, 5.0), st.integers(-300, 300))
def test_a_real_stays_in_its_range(value: float, steps: int) -> None:
    for kind in (Real(LABEL, 0.1, 5.0, "log"), Real(LABEL, 0.1, 5.0)):
        assert isinstance(kind.read(stepped(kind, value, steps)), float)


def test_a_logarithmic_real_doubles_in_three_steps() -> None:
    kind = Real(LABEL, 0.001, 10.0, "log")
    assert stepped(kind, 1.0, 3) == pytest.approx(2.0)
    assert stepped(kind, stepped(kind, 1.0, -3), 3) == pytest.approx(1.0)


def test_a_choice_goes_round_within_what_is_allowed() -> None:
    kind = Choice(LABEL, (1, 2, 3, 4))
    assert stepped(kind, 4, 1) == 1
    assert stepped(kind, 2, 1, allowed=(1, 2, 4)) == 4
    assert stepped(kind, 3, 1, allowed=(1, 2, 4)) == 2  # 3 is no longer allowed: go on from the first


def test_a_boolean_flips() -> None:
    assert stepped(Boolean(LABEL), True, 1) is False


def test_a_subset_never_becomes_empty_and_keeps_the_declared_order() -> None:
    kind = Choices(LABEL, ("a", "b", "c"))
    assert toggled(kind, ("c",), "a") == ("a", "c")
    assert toggled(kind, ("c",), "c") == ("c",)


@pytest.mark.parametrize(("lab", "field", "kind"), FIELDS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_default_of_every_lab_reads_back_from_its_text(lab: str, field: str, kind: Kind) -> None:
    for language in ("zh", "en"):
        value = defaults(declaration(lab).parameters, language)[field]
        text: Any = ",".join(value) if isinstance(kind, Choices) else editable(kind, value)
        assert kind.read(text) == value
        assert isinstance(written(kind, value), (str, Message))


def test_numbers_and_text_do_not_step() -> None:
    kind = Numbers(LABEL, "matrix", 3, 3)
    assert not steps_by_arrows(kind)
    assert editable(kind, ((1.0, 0.5), (0.0, 2.0))) == "1 0.5; 0 2"
