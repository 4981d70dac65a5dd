"""The real programs: Claude Code and Codex as npm has them, in a cache folder outside of here.

Pinned, and installed once a machine. Without npm, or without a way to its registry, tests that need
them are skipped, and say so.
"""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

PACKAGES: Final = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "codex": "@openai/codex@0.169.0",
}
FOLDER: Final = "GRAPH_MEMORY_PROGRAMS"
_SECONDS: Final = 600


def program(command: str) -> Path:
    """Return the path of a program's command, installed where it is not; skips without npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"no npm here: {command} is not tried")
    spec = PACKAGES[command]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get(FOLDER) or Path(home) / "graph-memory-programs")
    folder = cache / spec.replace("/", "-").strip("@")
    found = folder / "node_modules" / ".bin" / command
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            _install(npm, spec, folder)
    return _binary(folder, command, found)


def _install(npm: str, spec: str, folder: Path) -> None:
    words = ["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts"]
    try:
        done = subprocess.run(
            [npm, *words, "--prefix", str(folder), spec], capture_output=True, text=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.skip(f"{spec}: npm took more than {_SECONDS} seconds")
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"{spec} could not be installed: {done.stderr[-300:]}")


def _binary(folder: Path, command: str, found: Path) -> Path:
    """Return the program itself: its wrapper wants a newer Node than a machine may have."""
    native = next(iter(folder.glob(f"node_modules/@*/*/{command}")), None)
    native = native or next(iter(folder.glob(f"node_modules/@*/*/vendor/*/bin/{command}")), None)
    return native or found
