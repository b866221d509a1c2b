"""A lab is two files of one name: what can be asked, and the computation that answers it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from engine.contract import labs as declared
from engine.contract.parameters import build, defaults, kinds, to_plain, validate
from engine.contract.report import Report
from engine.labs import run_events

ROOT = Path(__file__).parents[2] / "engine"
# A lab that trains is run by its own test, once.
QUICK = tuple(name for name in declared.names() if not declared.declaration(name).trains)
GLOBAL_OPTIONS = {"seed", "device", "json", "plain", "out", "lang", "engine", "help", "theme"}


def modules(folder: Path) -> set[str]:
    """Return the names of the modules and packages in `folder`, its own frame apart."""
    files = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    return files - {"__init__", "base"}


def test_every_declaration_has_its_computation_and_the_other_way_round() -> None:
    assert modules(ROOT / "contract/labs") == modules(ROOT / "labs") == set(declared.MODULES.values())


@pytest.mark.parametrize("name", declared.names())
def test_a_declaration_and_its_computation_go_by_the_same_name(name: str) -> None:
    lab = declared.declaration(name)
    assert lab.name == name
    assert callable(import_module(f"engine.labs.{declared.MODULES[name]}").run)


@pytest.mark.parametrize("name", declared.names())
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_defaults_are_valid(name: str, language: str) -> None:
    lab = declared.declaration(name)
    assert validate(build(lab.parameters, {}, language)) == []


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_at_the_defaults_every_invariant_holds(name: str, language: str) -> None:
    lab = declared.declaration(name)
    params = build(lab.parameters, {}, language)
    *_, report = run_events(name, params, language=language)
    assert isinstance(report, Report)
    assert report.invariants
    assert [str(invariant.name) for invariant in report.invariants if invariant.holds is not True] == []


@pytest.mark.parametrize("name", declared.names())
def test_no_parameter_is_named_like_an_option_of_the_command(name: str) -> None:
    assert GLOBAL_OPTIONS.isdisjoint(kinds(declared.declaration(name).parameters))


@pytest.mark.parametrize("name", declared.names())
def test_parameters_survive_the_way_through_the_wire(name: str) -> None:
    lab = declared.declaration(name)
    params = build(lab.parameters, {}, "zh")
    wire = msgspec.msgpack.decode(msgspec.msgpack.encode(to_plain(params)))
    assert build(lab.parameters, wire, "en") == params


@pytest.mark.parametrize("name", declared.names())
def test_every_choice_has_a_label_for_every_option_or_speaks_for_itself(name: str) -> None:
    for kind in kinds(declared.declaration(name).parameters).values():
        labels = getattr(kind, "labels", ())
        options = getattr(kind, "options", ())
        assert len(labels) == len(options) or all(isinstance(option, int) for option in options)


@pytest.mark.parametrize("name", QUICK)
def test_the_panels_of_a_report_have_distinct_ids(name: str) -> None:
    lab = declared.declaration(name)
    params = build(lab.parameters, defaults(lab.parameters, "en"), "en")
    *_, report = run_events(name, params)
    assert isinstance(report, Report)
    ids = [panel.id for panel in report.panels]
    assert len(ids) == len(set(ids))
