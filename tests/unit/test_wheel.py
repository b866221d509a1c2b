"""The wheel carries the whole course: built, installed away from the checkout, and used in a hostile folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("transformer_tutor-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel alone is installed; what it depends on comes from the test environment."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    done = subprocess.run([*pip, "--target", str(target), str(wheel)], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A learner's folder whose files have the names of modules that tutor and engine import."""
    for name in ("engine", "random", "torch", "msgspec", "textual"):
        (tmp_path / f"{name}.py").write_text(
            f"raise SystemExit('the learner\\'s {name}.py was run')\n", encoding="utf-8"
        )
    return tmp_path


def tutor(installed: Path, folder: Path, *arguments: str, as_module: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the installed tutor in `folder`, by its command or as `python -m tutor`."""
    launcher = ["-m", "tutor"] if as_module else [str(installed / "bin" / "tutor")]
    return subprocess.run(
        [sys.executable, *launcher, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "TUTOR_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def test_the_wheel_holds_every_lesson_catalogue_style_and_module(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"tutor/_lessons/{path.relative_to(CHECKOUT / 'lessons').as_posix()}"
        for path in (CHECKOUT / "lessons").rglob("*")
        if path.suffix in {".toml", ".md", ".py"}
    } | {
        path.relative_to(CHECKOUT).as_posix()
        for room in ("tutor", "engine")
        for path in (CHECKOUT / room).rglob("*")
        if path.suffix in {".py", ".toml", ".tcss", ".safetensors"}
    }
    assert {"tutor/_lessons/course.toml", "tutor/app.tcss"} <= expected
    assert any(re.fullmatch(r"tutor/i18n/zh/.*\.toml", name) for name in expected)
    assert expected - inside == set()


def test_the_wheel_holds_nothing_of_the_workshop(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tutor", "engine"}


@pytest.mark.parametrize("as_module", [False, True], ids=["command", "module"])
@pytest.mark.parametrize(("language", "title"), [("en", "Self-attention"), ("zh", "自注意力")])
def test_the_installed_tutor_shows_a_lesson_from_a_hostile_folder(
    installed: Path, hostile: Path, language: str, title: str, as_module: bool
) -> None:
    arguments = ("show", "self-attention", "--plain", "--no-run", "--lang", language)
    shown = tutor(installed, hostile, *arguments, as_module=as_module)
    assert "was run" not in shown.stdout + shown.stderr
    assert shown.returncode == 0, shown.stderr
    assert title.lower() in shown.stdout.splitlines()[0].lower()
    assert len(shown.stdout.splitlines()) > 100
    assert "\x1b" not in shown.stdout


def test_the_installed_engine_computes_in_a_hostile_folder(installed: Path, hostile: Path) -> None:
    ran = tutor(installed, hostile, "run", "heads", "--sentence", "a b c", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith('{"schema"')
    assert "was run" not in ran.stdout + ran.stderr
