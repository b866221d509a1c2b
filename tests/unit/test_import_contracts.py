"""Who may import whom, proved twice: by import-linter on the source, and by what a fresh process has loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

# Prints the top-level packages and the full names that the imports of argv[2:] add; argv[1] lists packages that
# are made to look as if they were not installed.
PROBE = """
import importlib, json, sys

class Absent:
    def __init__(self, names): self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent(set(sys.argv[1].split(","))))
before = set(sys.modules)
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def modules_loaded_by(*names: str, absent: tuple[str, ...] = ()) -> set[str]:
    """The names in `sys.modules` that importing `names` adds in a fresh interpreter without the packages `absent`."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, ",".join(absent), *names],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


# What costs the first frame: the computation, and what only a shown lesson, picture or schedule needs.
HEAVY = {"torch", "numpy", "safetensors", "plotext", "markdown_it", "pylatexenc", "fsrs", "sympy", "multiprocessing"}


@pytest.mark.parametrize("module", ["tutor.cli.main", "tutor.app"])
def test_nothing_heavy_is_loaded_before_the_first_frame(module: str) -> None:
    assert packages(modules_loaded_by(module)) & HEAVY == set()


def test_the_command_line_starts_without_textual() -> None:
    loaded = packages(modules_loaded_by("tutor.__main__", "tutor.cli.main"))
    assert loaded & {"textual", "rich", "engine"} <= {"engine"}


def test_importing_the_engine_loads_no_torch() -> None:
    assert packages(modules_loaded_by("engine")) & {"torch", "numpy"} == set()


def test_the_contract_is_standard_library_and_msgspec() -> None:
    names = [
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((CHECKOUT / "engine" / "contract").rglob("*.py"))
    ]
    assert "engine.contract" in names
    # msgspec itself looks for typing_extensions and does without.
    loaded = packages(modules_loaded_by(*names, absent=("typing_extensions",)))
    assert loaded - set(sys.stdlib_module_names) <= {"engine", "msgspec"}


def test_the_tutor_takes_of_the_engine_only_the_contract() -> None:
    graph = grimp.build_graph("tutor", "engine", cache_dir=None)
    taken = {
        imported: importer
        for importer in graph.modules
        if importer.split(".")[0] == "tutor"
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.split(".")[0] == "engine"
    }
    assert any(name.startswith("engine.contract.") for name in taken)
    assert {name: by for name, by in taken.items() if not f"{name}.".startswith("engine.contract.")} == {}


def test_the_engine_runs_on_a_machine_without_the_terminal_packages() -> None:
    terminal = ("tutor", "textual", "rich", "plotext", "platformdirs", "pylatexenc", "markdown_it", "fsrs")
    loaded = modules_loaded_by("engine.host", "engine.labs", absent=terminal)
    assert {"engine.host", "engine.labs"} <= loaded


@pytest.mark.parametrize("room", ["course", "text", "pictures", "progress", "i18n", "engine_client"])
def test_a_room_below_the_screens_loads_no_textual(room: str) -> None:
    root = CHECKOUT / "tutor" / room
    names = [
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(root.rglob("*.py"))
    ]
    assert f"tutor.{room}" in names
    assert packages(modules_loaded_by(*names)) & {"textual", "torch", "numpy"} == set()


def test_import_linter_keeps_every_contract() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(
        [*command, "--no-cache"],
        cwd=CHECKOUT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
