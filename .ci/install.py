"""Make .venv and install the tutor into it. `.ci/setup` calls this when its stamp no longer fits.

Standard library only, any Python from 3.10 to 3.14. Usage: install.py run|dev. TORCH_INDEX in the environment
names another package index for PyTorch alone (a CPU build, another CUDA or ROCm).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
LOG = VENV / "pip.log"
CONSTRAINTS = VENV / "constraints.txt"
MADE_FROM = VENV / "made-from"
TORCH_INDEX = VENV / "torch-index"

# What cannot succeed with less: the installed packages and, during the install, the downloaded wheels beside them.
# CPU build: 1.1 GB installed, 0.2 GB of wheels. CUDA build: libraries of NVIDIA come on top.
GIGABYTE = 10**9
SPACE = {"none": 0.3, "cpu": 1.5, "cuda": 6.0}
DOWNLOAD = {"none": "60 MB", "cpu": "250 MB", "cuda": "3 GB"}

# Beside the machine's own PyTorch these stay as they are: it may want one release of them (2.5 and 2.6 want
# sympy 1.13.1, and pip would look for another PyTorch), or be built for the numpy it came with.
TORCH_AND_ITS_NEEDS = {
    *("torch", "numpy", "filelock", "typing-extensions", "sympy", "mpmath"),
    *("networkx", "jinja2", "markupsafe", "fsspec"),
}


class SetupError(Exception):
    """What stopped the installation, in one English and one Chinese sentence."""

    def __init__(self, english: str, chinese: str) -> None:
        super().__init__(english)
        self.chinese = chinese


def tell(english: str, chinese: str) -> None:
    """Write both sentences to stderr, the Chinese one only where the terminal can show it."""
    print(english, file=sys.stderr)
    try:
        chinese.encode(sys.stderr.encoding or "ascii")
    except UnicodeEncodeError:
        return
    print(chinese, file=sys.stderr, flush=True)


def require_venv_module() -> None:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"This Python ({sys.executable}) has no venv module; on Debian and Ubuntu: "
            f"sudo apt install {name}-venv (or python3-venv), then make again.",
            f"这个 Python（{sys.executable}）没有 venv 模块；Debian 与 Ubuntu 上先执行 "
            f"sudo apt install {name}-venv（或 python3-venv），然后再 make。",
        ) from None


def torch_seen_by(python: Path | str) -> str | None:
    """The version of the PyTorch that `python` finds, or None; read from its metadata, nothing is imported."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    result = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    return result.stdout.strip() or None if result.returncode == 0 else None


def is_recent_torch(version: str | None) -> bool:
    """Whether pip would accept this version for `torch>=2.4` (a pre-release of 2.4 itself comes before it)."""
    match = re.match(r"(\d+)\.(\d+)(.*)", (version or "").split("+")[0])
    if match is None:
        return False
    release = (int(match[1]), int(match[2]))
    return release > (2, 4) or (release == (2, 4) and not re.search(r"[a-z]", match[3]))


def make_venv() -> None:
    """Make .venv afresh unless a complete one of this Python version, in this folder, is there already."""
    made_from = f"{platform.python_version()} {VENV.absolute()}\n"
    if PYTHON.exists() and MADE_FROM.is_file() and MADE_FROM.read_text(encoding="utf-8") == made_from:
        return
    require_venv_module()
    # A venv made from inside another venv sees only the packages of the Python below both.
    base: str = getattr(sys, "_base_executable", sys.executable)
    options = ["--clear"]
    system_torch = torch_seen_by(base)
    if is_recent_torch(system_torch) and "TORCH_INDEX" not in os.environ:
        options.append("--system-site-packages")
        tell(
            f"Python {platform.python_version()} already has PyTorch {system_torch}: the tutor will use it.",
            f"Python {platform.python_version()} 已带有 PyTorch {system_torch}：tutor 直接用它。",
        )
    if subprocess.run([base, "-m", "venv", *options, str(VENV)]).returncode != 0:
        raise SetupError(
            f"{base} could not make {VENV}; its own words are above. Check that this folder is writable.",
            f"{base} 无法建立 {VENV}，原因见上；请检查这个文件夹是否可写。",
        )
    MADE_FROM.write_text(made_from, encoding="utf-8")


def torch_of_the_machine() -> str | None:
    """The version of a recent PyTorch that .venv sees but does not hold, or None."""
    if any(VENV.glob("lib/python*/site-packages/torch-*.dist-info")):
        return None
    version = torch_seen_by(PYTHON)
    return version if is_recent_torch(version) else None


def torch_to_come(index: str) -> str:
    """Which PyTorch is still to be installed: 'none', 'cpu', or 'cuda' (what an ordinary index serves Linux)."""
    if torch_of_the_machine() or f"torch=={(torch_seen_by(PYTHON) or '').split('+')[0]}" in pins():
        return "none"
    return "cpu" if sys.platform != "linux" or index.rstrip("/").endswith("cpu") else "cuda"


def torch_index() -> str:
    """TORCH_INDEX, remembered in .venv so that a later update comes from the same place; '' when never given."""
    if "TORCH_INDEX" in os.environ:
        TORCH_INDEX.write_text(os.environ["TORCH_INDEX"], encoding="utf-8")
    return TORCH_INDEX.read_text(encoding="utf-8") if TORCH_INDEX.is_file() else ""


def require_space(build: str) -> None:
    """Refuse before the download what would fail after it."""
    free, need = shutil.disk_usage(VENV).free / GIGABYTE, SPACE[build]
    if free < need:
        raise SetupError(
            f"Too little disk: {Path.cwd()} has {free:.1f} GB free, and the tutor with PyTorch needs {need} GB.",
            f"磁盘空间不足：{Path.cwd()} 只剩 {free:.1f} GB，tutor 连同 PyTorch 需要 {need} GB。",
        )


def announce(build: str) -> None:
    if build == "cuda":
        tell(
            f"Installing into {VENV}: up to {DOWNLOAD[build]} to download, most of it PyTorch with CUDA "
            "(a CPU build is 0.2 GB: make TORCH_INDEX=<its index>). Interrupted? make goes on.",
            f"正在安装到 {VENV}：最多下载 {DOWNLOAD[build]}，主要是带 CUDA 的 PyTorch"
            "（CPU 版只有 0.2 GB：make TORCH_INDEX=<它的索引>）。中断后再 make 即可继续。",
        )
    else:
        tell(
            f"Installing into {VENV}: about {DOWNLOAD[build]} to download. Interrupted? make goes on.",
            f"正在安装到 {VENV}：约需下载 {DOWNLOAD[build]}。中断后再 make 即可继续。",
        )


def remove_half_installed() -> None:
    """Forget packages whose unpacking was interrupted: pip writes INSTALLER last, and trusts any METADATA."""
    for metadata in VENV.glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "INSTALLER").is_file():
            shutil.rmtree(metadata)


def pins() -> list[str]:
    return Path("constraints.txt").read_text(encoding="utf-8").splitlines()


def write_constraints() -> None:
    """Copy constraints.txt to .venv; where the machine's own PyTorch serves, keep exactly that one."""
    lines = pins()
    if torch := torch_of_the_machine():
        lines = [line for line in lines if re.split(r"[=;]", line)[0].strip() not in TORCH_AND_ITS_NEEDS]
        lines.append(f"torch=={torch}")
    CONSTRAINTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pip(*arguments: str) -> None:
    """Run `pip install` with its progress visible; a failure becomes one sentence by what the log says."""
    LOG.unlink(missing_ok=True)
    # pip unpacks in TMPDIR: /tmp is often a small memory disk, and only .venv's disk was checked for space.
    temporary = VENV.absolute() / "tmp"
    temporary.mkdir(exist_ok=True)
    command = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--no-user",
        "--disable-pip-version-check",
        "--log",
        str(LOG),
    ]
    try:
        done = subprocess.run([*command, *arguments], env={**os.environ, "TMPDIR": str(temporary)})
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    if done.returncode != 0:
        log = LOG.read_text(encoding="utf-8", errors="replace") if LOG.is_file() else ""
        raise explain(log)


def explain(log: str) -> SetupError:
    """One sentence for why pip failed."""
    more = f"(pip's log: {LOG})", f"（pip 日志：{LOG}）"
    if re.search(r"No space left on device|Disk quota exceeded", log):
        return SetupError(
            f"The disk is full: make room and run make again. {more[0]}",
            f"磁盘已满：请腾出空间后再 make。{more[1]}",
        )
    if re.search(
        r"NewConnectionError|Failed to establish|name resolution|ConnectTimeout|ReadTimeout|ProxyError"
        r"|ConnectionResetError|SSLError|IncompleteRead"
        # Only PyTorch may truly have nothing for this machine; an index without any of the others was not reached.
        r"|the requirement (?!torch\b).* \(from versions: none\)",
        log,
    ):
        return SetupError(
            f"The network failed: check the connection (or the proxy) and run make again; it goes on where it "
            f"stopped. {more[0]}",
            f"网络不通：请检查连接（或代理）后再 make，会从中断处继续。{more[1]}",
        )
    missing = re.search(r"No matching distribution found for (\S+)", log)
    if missing:
        here = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        return SetupError(
            f"The package index has no {missing[1]} for {here}: try another PYTHON= or TORCH_INDEX=. {more[0]}",
            f"软件包索引里没有适用于 {here} 的 {missing[1]}：请换一个 PYTHON= 或 TORCH_INDEX=。{more[1]}",
        )
    return SetupError(f"pip could not install the tutor. {more[0]}", f"pip 未能完成安装。{more[1]}")


def install(level: str) -> None:
    make_venv()
    remove_half_installed()
    index = torch_index()
    build = torch_to_come(index)
    require_space(build)
    announce(build)
    write_constraints()
    if build != "none" and index:
        # Without its needs: an index of PyTorch builds seldom serves them all; the next call brings them.
        pip("--no-deps", "--index-url", index, "-c", str(CONSTRAINTS), "torch")
    extra = ["--extra-index-url", index] if index else []
    pip("-c", str(CONSTRAINTS), *extra, "-e", ".[dev]" if level == "dev" else ".")


def main() -> int:
    try:
        install(sys.argv[1])
    except SetupError as problem:
        tell(str(problem), problem.chinese)
        return 1
    except KeyboardInterrupt:
        tell("Interrupted; make goes on from here.", "已中断；再次 make 会从这里继续。")
        return 130
    except OSError as problem:
        tell(f"The installation stopped: {problem}.", f"安装中止：{problem}。")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
