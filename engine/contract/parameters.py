"""Parameters of a lab: their kinds, how text becomes a value, and what is refused.

A lab declares its parameters once, as a frozen `Params` struct whose fields carry a kind:

    class SqrtDkParams(Params, frozen=True, forbid_unknown_fields=True):
        keys: Annotated[int, Integer(say("number of keys"), 2, 64)] = 16

The same declaration draws the form, parses the command line and validates a run. What is out of range is refused with
the allowed range, never clamped. `seed` and `device` belong to the run, not to the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from engine.contract.kinds import Integer, Kind, Text
from engine.contract.message import Message, say

SEED = Integer(say("seed"), 0, 9999)


class Problem(msgspec.Struct, frozen=True):
    """Why a parameter is refused; `field` is "" when no single field is at fault."""

    field: str
    message: Message


class InvalidParameters(ValueError):
    """Raised where refused parameters must not go on; carries the problems."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem.message) for problem in problems))
        self.problems = problems


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every lab's parameters. Override `problems` for cross-field rules, `options` for dependent choices."""

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the combination of fields, each of which is in range by itself."""
        yield from ()

    def options(self, field: str) -> tuple[Any, ...] | None:
        """Return the choices of `field` that go with the other fields, or None when all do."""
        return None

    def relevant(self, field: str) -> bool:
        """Tell whether `field` matters for the other fields' present values (a form hides it otherwise)."""
        return True


@cache
def kinds(params: type[Params]) -> Mapping[str, Kind]:
    """Return the kind of every field, in the order of declaration."""
    hints = get_type_hints(params, include_extras=True)
    return {name: get_args(hints[name])[1] for name in params.__struct_fields__}


def defaults(params: type[Params], language: str) -> dict[str, Any]:
    """Return the declared defaults; a text parameter has one per language ("zh" or "en")."""
    plain = msgspec.structs.asdict(params())
    return {
        name: kind.default(language) if isinstance(kind, Text) else plain[name] for name, kind in kinds(params).items()
    }


def build(params: type[Params], given: Mapping[str, Any], language: str) -> Params:
    """Fill `given` up with the defaults and validate; raise InvalidParameters with every problem found.

    A value may be of the field's own type or the text a learner typed.
    """
    declared = kinds(params)
    problems = [Problem(name, _unknown(name, declared)) for name in given if name not in declared]
    values = defaults(params, language)
    for name in values:
        if name in given:
            value = declared[name].read(given[name])
            if isinstance(value, Message):
                problems.append(Problem(name, value))
            values[name] = value
    if problems:
        raise InvalidParameters(problems)
    built = params(**values)
    if problems := list(built.problems()):
        raise InvalidParameters(problems)
    return built


def validate(params: Params) -> list[Problem]:
    """Return everything wrong with `params`: each field by its kind, then the fields together."""
    problems = []
    for name, kind in kinds(type(params)).items():
        value = kind.read(getattr(params, name))
        if isinstance(value, Message):
            problems.append(Problem(name, value))
    return problems or list(params.problems())


def to_plain(params: Params) -> dict[str, Any]:
    """Return the fields as JSON-like values (tuples as lists)."""
    return msgspec.to_builtins(params)  # type: ignore[no-any-return]


def divisors_up_to(number: int, most: int) -> tuple[int, ...]:
    """Return the divisors of `number` from 1 to `most`."""
    return tuple(n for n in range(1, min(number, most) + 1) if number % n == 0)


def read_seed(value: object) -> int | Message:
    """Return a seed from 0 to 9999, or the reason why `value` is none."""
    return SEED.read(value)


def _unknown(name: str, declared: Mapping[str, Kind]) -> Message:
    import difflib

    close = difflib.get_close_matches(name, declared, n=1)
    if close:
        return say("There is no parameter “{name}”; did you mean “{close}”?", name=name, close=close[0])
    if not declared:
        return say("There is no parameter “{name}”; this lab has none.", name=name)
    return say("There is no parameter “{name}”; this lab has: {names}.", name=name, names=", ".join(declared))
