"""`make` on machines that lack something, and a second time. A miniature project stands in for the tutor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import types
from collections import namedtuple
from importlib.util import module_from_spec, spec_from_file_location
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


def load_installer() -> types.ModuleType:
    spec = spec_from_file_location("tutor_installer", CHECKOUT / ".ci" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


installer = load_installer()


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


def test_no_network_is_one_sentence_and_the_place_of_the_log(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    needy = PYPROJECT.replace("requires = []", 'requires = ["hatchling"]')
    (project / "pyproject.toml").write_text(needy, encoding="utf-8")
    result = make(
        project,
        f"PYTHON={sys.executable}",
        PYTHONUSERBASE=user_site_with_torch(tmp_path, "2.6.0"),
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_RETRIES="0",
    )
    assert result.returncode != 0
    assert "The network failed: check the connection" in result.stderr
    assert "(pip's log: .venv/pip.log)" in result.stderr
    assert "网络不通" in result.stderr
    assert (project / ".venv" / "pip.log").is_file()


def test_make_installs_once_resumes_and_keeps_the_torch_of_the_machine(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    builds = project / "builds"
    machine = {"PYTHONUSERBASE": user_site_with_torch(tmp_path, "2.6.0+cu124"), "PIP_NO_INDEX": "1"}
    first = make(project, "-j4", f"PYTHON={sys.executable}", **machine)
    assert first.returncode == 0, first.stderr
    assert first.stdout.endswith("the tutor opens\n")
    assert "already has PyTorch 2.6.0+cu124" in first.stderr
    constraints = (project / ".venv" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert "torch==2.6.0+cu124" in constraints
    assert "textual==8.2.8" in constraints
    assert not any(line.startswith(("torch==2.13", "sympy", "numpy")) for line in constraints)

    # A second start runs no Python but the tutor's own, so nothing can be installed and no network is touched.
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"):
        script(nothing / name, f'touch "{tmp_path}/started"; exit 1')
    second = make(project, PATH=f"{nothing}:{os.environ['PATH']}")
    assert (second.returncode, second.stdout, second.stderr) == (0, "the tutor opens\n", "")
    assert not (tmp_path / "started").exists()
    assert builds.read_text(encoding="utf-8") == "built\n"

    # An interrupted install leaves no stamp, and maybe a package without its last file.
    (project / ".venv" / "installed-run").unlink()
    packages = next((project / ".venv").glob("lib/python*/site-packages"))
    (packages / "half-1.dist-info").mkdir()
    (packages / "half-1.dist-info" / "METADATA").write_text("Name: half\n", encoding="utf-8")
    third = make(project, **machine)
    assert third.returncode == 0, third.stderr
    assert third.stdout.endswith("the tutor opens\n")
    assert not (packages / "half-1.dist-info").exists()

    # The scripts of a venv hold its path: a folder that moved gets a new one.
    moved = project.rename(tmp_path / "another folder")
    fourth = make(moved, f"PYTHON={sys.executable}", **machine)
    assert fourth.returncode == 0, fourth.stderr
    assert fourth.stdout.endswith("the tutor opens\n")
    assert (moved / "builds").read_text(encoding="utf-8") == "built\n" * 3


@pytest.mark.parametrize(
    ("version", "recent"),
    [
        ("2.13.0", True),
        ("2.4.0", True),
        ("2.4.1+cu121", True),
        ("2.5.0a0+872d972e41.nv24.08", True),
        ("3.0.0", True),
        ("2.4.0a0+07cecf4168.nv24.05", False),
        ("2.3.1", False),
        ("1.13.1+cu117", False),
        ("", False),
        (None, False),
    ],
)
def test_a_torch_is_recent_as_pip_counts(version: str | None, recent: bool) -> None:
    assert installer.is_recent_torch(version) is recent


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("build", "free", "enough"), [("cpu", 1.4, False), ("cpu", 1.6, True), ("cuda", 5.9, False)])
def test_too_little_disk_is_told_before_the_download(
    build: str, free: float, enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer.shutil, "disk_usage", lambda path: Usage(0, 0, int(free * 10**9)))
    if enough:
        installer.require_space(build)
        return
    with pytest.raises(installer.SetupError, match=rf"has {free} GB free, and the tutor with PyTorch needs") as error:
        installer.require_space(build)
    assert f"只剩 {free} GB" in error.value.chinese


@pytest.mark.parametrize(
    ("log", "english", "chinese"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full", "磁盘已满"),
        ("NameResolutionError: Temporary failure in name resolution", "The network failed", "网络不通"),
        ("ReadTimeoutError: Read timed out", "The network failed", "网络不通"),
        (
            "ERROR: Could not find a version that satisfies the requirement rich<16 (from versions: none)",
            "The network failed",
            "网络不通",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
            "ERROR: No matching distribution found for torch==2.13.0",
            "has no torch==2.13.0 for Python 3",
            "没有适用于",
        ),
        (
            "ERROR: No matching distribution found for torch==2.13.0",
            "has no torch==2.13.0 for Python 3",
            "没有适用于",
        ),
        ("something else", "pip could not install the tutor", "pip 未能完成安装"),
    ],
)
def test_a_failure_of_pip_is_told_by_its_cause(log: str, english: str, chinese: str) -> None:
    problem = installer.explain(log)
    assert english in str(problem)
    assert chinese in problem.chinese
    assert str(installer.LOG) in str(problem)


def test_an_index_for_torch_is_remembered_for_the_next_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv").mkdir()
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    assert installer.torch_index() == ""
    monkeypatch.setenv("TORCH_INDEX", "file:///mirror/cpu")
    assert installer.torch_index() == "file:///mirror/cpu"
    monkeypatch.delenv("TORCH_INDEX")
    assert installer.torch_index() == "file:///mirror/cpu"
