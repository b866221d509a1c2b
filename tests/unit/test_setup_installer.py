"""What .ci/install.py decides: whether a PyTorch serves, whether the disk does, and why pip failed."""

from __future__ import annotations

import types
from collections import namedtuple
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def load_installer() -> types.ModuleType:
    spec = spec_from_file_location("tutor_installer", CHECKOUT / ".ci" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


installer = load_installer()


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
