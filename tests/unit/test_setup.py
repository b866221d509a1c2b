"""`make` on machines that lack something, and a second time. A miniature project stands in for the tutor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "miniature"
version = "1"
"""

# The smallest build backend: an editable wheel with one script, `tutor`. `builds` counts its runs.
BACKEND = """
import base64, hashlib, zipfile
from pathlib import Path

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with open("builds", "a") as log:
        log.write("built\\n")
    files = {
        "miniature.py": "def main():\\n    print('the tutor opens')\\n",
        "miniature-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: miniature\\nVersion: 1\\n",
        "miniature-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "miniature-1.dist-info/entry_points.txt": "[console_scripts]\\ntutor = miniature:main\\n",
    }
    record = "".join(f"{name},,\\n" for name in files) + "miniature-1.dist-info/RECORD,,\\n"
    name = "miniature-1-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, text in {**files, "miniature-1.dist-info/RECORD": record}.items():
            wheel.writestr(path, text)
    return name

def build_wheel(*arguments):
    raise NotImplementedError
"""


def environment(**changes: str) -> dict[str, str]:
    """The surroundings of a fresh machine: no make above us, no PYTHON chosen, no network tried."""
    dropped = ("MAKE", "PYTHON", "TORCH_INDEX", "PIP_", "MFLAGS", "GNUMAKEFLAGS", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "LC_ALL": "C.UTF-8", **changes}


def make(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def new_project(folder: Path) -> Path:
    """A miniature project with our Makefile, in a folder whose name has a space."""
    project = folder / "a folder"
    (project / ".ci").mkdir(parents=True)
    for name in ("Makefile", "constraints.txt", ".ci/setup", ".ci/install.py"):
        shutil.copy(CHECKOUT / name, project / name)
    (project / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (project / "backend.py").write_text(BACKEND, encoding="utf-8")
    return project


def user_site_with_torch(folder: Path, version: str) -> str:
    """A PYTHONUSERBASE in which PyTorch `version` seems installed."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    metadata = folder / "user" / "lib" / python / "site-packages" / f"torch-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n", encoding="utf-8")
    (metadata / "INSTALLER").write_text("pip\n", encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")
    return str(folder / "user")


def test_a_python_too_old_is_named_with_its_version(tmp_path: Path) -> None:
    old = script(tmp_path / "python3.9", "echo 3.9.18")
    result = make(new_project(tmp_path), f"PYTHON={old}")
    assert result.returncode != 0
    assert f"tutor needs Python 3.10 to 3.14, and PYTHON={old} is 3.9.18" in result.stderr
    assert f"PYTHON={old} 是 3.9.18" in result.stderr


def test_a_python_that_does_not_start_is_refused(tmp_path: Path) -> None:
    result = make(new_project(tmp_path), "PYTHON=/nowhere/python")
    assert result.returncode != 0
    assert "PYTHON=/nowhere/python is not a Python that starts" in result.stderr


def test_without_a_usable_python_the_ones_found_are_told(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "make", "dirname", "cksum", "cat", "rm", "grep"):
        (tools / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    script(tools / "python3", "echo 3.8.10")
    script(tools / "python3.12", "exit 127")  # what a pyenv shim does when that version is not chosen
    result = make(new_project(tmp_path), PATH=str(tools))
    assert result.returncode != 0
    assert "tutor needs Python 3.10 to 3.14; found: python3=3.8.10." in result.stderr
    assert "找到的是： python3=3.8.10" in result.stderr


def test_a_python_without_venv_gets_the_package_to_install(tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError\n", encoding="utf-8")
    bare = script(tmp_path / "python", f'PYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"')
    result = make(new_project(tmp_path), f"PYTHON={bare}")
    assert result.returncode != 0
    assert f"sudo apt install python3.{sys.version_info.minor}-venv (or python3-venv)" in result.stderr
    assert "没有 venv 模块" in result.stderr
    assert "Traceback" not in result.stderr


def test_windows_is_sent_to_wsl(tmp_path: Path) -> None:
    result = make(new_project(tmp_path), "OS=Windows_NT")
    assert result.returncode != 0
    assert "open a WSL terminal" in result.stderr
    assert "WSL 终端" in result.stderr


@dataclass(frozen=True)
class Made:
    """A miniature project after its first `make`, on a machine that has PyTorch 2.6 and no package index."""

    project: Path
    machine: dict[str, str]
    first: subprocess.CompletedProcess[str]

    def builds(self) -> int:
        return len((self.project / "builds").read_text(encoding="utf-8").splitlines())

    def forget(self) -> None:
        """Leave what an interrupted install leaves: everything but the stamp."""
        (self.project / ".venv" / "installed-run").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    machine = {"PYTHONUSERBASE": user_site_with_torch(folder, "2.6.0+cu124"), "PIP_NO_INDEX": "1"}
    project = new_project(folder)
    return Made(project, machine, make(project, "-j4", f"PYTHON={sys.executable}", **machine))


def test_make_installs_and_opens_the_tutor_even_in_parallel_and_with_spaces(made: Made) -> None:
    assert " " in made.project.name
    assert made.first.returncode == 0, made.first.stderr
    assert made.first.stdout.endswith("the tutor opens\n")


def test_the_torch_of_the_machine_is_kept_and_what_it_needs_unpinned(made: Made) -> None:
    assert "already has PyTorch 2.6.0+cu124" in made.first.stderr
    constraints = (made.project / ".venv" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert "torch==2.6.0+cu124" in constraints
    assert "textual==8.2.8" in constraints
    assert [line for line in constraints if line.startswith(("torch==2.13", "sympy", "numpy"))] == []


def test_a_second_make_installs_nothing_and_starts_no_python_but_the_tutor(made: Made, tmp_path: Path) -> None:
    before = made.builds()
    for name in ("python3", *(f"python3.{minor}" for minor in range(10, 15))):
        script(tmp_path / name, f'touch "{tmp_path}/started"; exit 1')
    second = make(made.project, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (second.returncode, second.stdout, second.stderr) == (0, "the tutor opens\n", "")
    assert not (tmp_path / "started").exists()
    assert made.builds() == before


def test_an_interrupted_install_is_resumed(made: Made) -> None:
    made.forget()
    packages = next((made.project / ".venv").glob("lib/python*/site-packages"))
    half = packages / "half-1.dist-info"  # pip would take it for installed
    half.mkdir()
    (half / "METADATA").write_text("Name: half\nVersion: 1\n", encoding="utf-8")
    again = make(made.project, **made.machine)
    assert again.returncode == 0, again.stderr
    assert again.stdout.endswith("the tutor opens\n")
    assert not half.exists()


def test_a_folder_that_moved_gets_a_new_venv(made: Made, tmp_path: Path) -> None:
    moved = shutil.copytree(made.project, tmp_path / "another folder", True, shutil.ignore_patterns("pip"))
    opened = make(moved, f"PYTHON={sys.executable}", **made.machine)
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.endswith("the tutor opens\n")
    assert str(made.project) not in (moved / ".venv" / "bin" / "tutor").read_text(encoding="utf-8")


def test_no_network_is_one_sentence_and_the_place_of_the_log(made: Made) -> None:
    made.forget()
    pyproject = made.project / "pyproject.toml"
    pyproject.write_text(PYPROJECT.replace("requires = []", 'requires = ["hatchling"]'), encoding="utf-8")
    try:
        result = make(
            made.project,
            PYTHONUSERBASE=made.machine["PYTHONUSERBASE"],
            PIP_INDEX_URL="http://127.0.0.1:9/simple",
            PIP_RETRIES="0",
        )
    finally:
        pyproject.write_text(PYPROJECT, encoding="utf-8")
    assert result.returncode != 0
    assert "The network failed: check the connection" in result.stderr
    assert "(pip's log: .venv/pip.log)" in result.stderr
    assert "网络不通" in result.stderr
    assert (made.project / ".venv" / "pip.log").is_file()
