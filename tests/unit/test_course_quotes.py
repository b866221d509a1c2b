"""Live numbers in prose, and the claims of a lesson about them."""

from __future__ import annotations

import pytest

from engine.contract.report import Scalar
from tutor.course.asserts import check_assert
from tutor.course.model import Assertion
from tutor.course.quotes import fill_quotes, find_quotes, write

VALUES: dict[str, dict[str, Scalar]] = {
    "hand": {"weights": [0.40111, 0.19778], "entropy": 1.05336, "tiny": 2.3e-05, "ok": True, "name": "q"}
}


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        ("hand.entropy:.4f", "1.0534"),
        ("hand.weights[1]:.4f", "0.1978"),
        ("hand.weights:.2f", "0.40, 0.20"),
        ("hand.tiny:.0e", "2e-5"),
        ("hand.weights[0]:.1%", "40.1%"),
        ("hand.ok", "True"),
        ("hand.name:.2f", "q"),
    ],
)
def test_a_quote_shows_the_value_in_its_format(inner: str, shown: str) -> None:
    assert fill_quotes(f"a {{{{{inner}}}}} b", VALUES) == {inner: shown}


@pytest.mark.parametrize("inner", ["hand.weights[2]:.4f", "hand.none:.2f", "other.entropy:.2f", "hand.entropy[0]"])
def test_what_has_not_been_measured_is_not_shown(inner: str) -> None:
    assert fill_quotes(f"{{{{{inner}}}}}", VALUES) == {}


def test_quotes_are_found_with_their_lines() -> None:
    found = list(find_quotes("x {{a.b:.2f}}\n\n{{c.d[3]}} {{ e.f }} {{nonsense}}", 10))
    assert [(quote.lab, quote.value, quote.format, quote.line) for quote in found] == [
        ("a", "b", ".2f", 10),
        ("c", "d[3]", "", 12),
        ("e", "f", "", 12),
        ("", "", "", 12),
    ]


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [(-0.0001, ".2f", "0.00"), (0.0, ".0e", "0"), (1.5e12, ".1e", "1.5e12"), (-0.25, ".2f", "-0.25"), (3, "d", "3")],
)
def test_numbers_are_written_as_by_hand(value: float, spec: str, text: str) -> None:
    assert write(value, spec) == text


def claim(value: str, relation: str, bound: object, tolerance: float = 0.0) -> Assertion:
    return Assertion(value, relation, bound, tolerance, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("assertion", "holds"),
    [
        (claim("entropy", "~", 1.05, 0.01), True),
        (claim("entropy", "~", 1.05, 0.001), False),
        (claim("weights", "~", [0.4, 0.2], 0.01), True),
        (claim("weights", "~", [0.4, 0.2, 0.1], 0.01), False),
        (claim("weights[0]", ">", 0.4), True),
        (claim("weights[0]", "<=", 0.4), False),
        (claim("ok", "==", True), True),
        (claim("ok", "==", 1), False),
        (claim("ok", ">", 0), False),
        (claim("name", "==", "q"), True),
        (claim("name", "!=", "q"), False),
        (claim("nan", "<", 1.0), False),
        (claim("nan", ">=", 1.0), False),
        (claim("nan", "==", 1.0, 9.0), False),
        (claim("nan", "!=", 1.0), True),
        (claim("inf", "==", float("inf")), True),
        (claim("inf", "~", 1.0, 9.0), False),
    ],
)
def test_an_assertion_holds_or_does_not(assertion: Assertion, holds: bool) -> None:
    values = VALUES["hand"] | {"nan": float("nan"), "inf": float("inf")}
    assert (check_assert(assertion, values) is None) is holds


def test_a_broken_claim_says_what_was_found_and_where() -> None:
    fault = check_assert(claim("entropy", "<", 1.0), VALUES["hand"], "zh/08.md")
    assert fault is not None
    assert (fault.place, str(fault.message)) == ("zh/08.md:7", "entropy is 1.05336, but the lesson claims < 1.0.")


def test_a_claim_about_no_value_is_a_fault() -> None:
    fault = check_assert(claim("entropie", "<", 9.0), VALUES["hand"])
    assert fault is not None
    assert str(fault.message).startswith("The run has no value “entropie”; it has: entropy, name")
