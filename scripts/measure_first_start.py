"""Measure the first start: ./scripts/run from an empty cache and without an environment.

    scripts/measure_first_start.py [REPOSITORY] [--folder FOLDER]

Needs nothing but Python, so that it can stand before everything else. REPOSITORY is a checkout of
any age, else this one. It starts the servers on free ports and a store of their own, asks a
question, stops them with Ctrl-C and starts a second time. What was downloaded is counted after
that: every distribution of the environment is fetched once more as it was, and its file weighed.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000
SHOWN = 10
# What pip itself needs to read pyproject.toml and to build: in an environment that is thrown away.
BUILD = ("setuptools", "Cython")


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the command to the first server's start, and to the last line of greeting."""

    installed: float
    ready: float


def main() -> None:
    """Start twice and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repository", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--folder", help="where to install; kept. Else a temporary folder")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.folder or stack.enter_context(tempfile.TemporaryDirectory())
        measure(asked.repository.resolve(), Path(folder).resolve())


def measure(repository: Path, folder: Path) -> None:
    """Print seconds, megabytes on disk and megabytes downloaded."""
    environment = make_environment(folder)
    venv = Path(environment["GRAPH_MEMORY_VENV"])
    if venv.exists():
        sys.exit(f"{venv} is there already: this would not be a first start")
    for name in ("first start", "second start"):
        took = start(repository, environment)
        print(f"{name}: installed after {took.installed:.1f} s, ready after {took.ready:.1f} s")
    print(f"on disk: {weigh(venv) / MEGABYTE:.0f} MB")
    wheels = download_again(venv, folder / "wheels", environment)
    print(f"downloaded: {sum(wheels.values()) / MEGABYTE:.0f} MB in {len(wheels)} files, of these")
    for name, size in sorted(wheels.items(), key=lambda entry: -entry[1])[:SHOWN]:
        print(f"  {size / MEGABYTE:6.1f} MB  {name}")


def make_environment(folder: Path) -> dict[str, str]:
    """Return variables with caches and data in the folder and without anybody's settings."""
    own = {n: v for n, v in os.environ.items() if not n.startswith(("MEMORY_", "EMBEDDING_"))}
    return own | {
        "GRAPH_MEMORY_VENV": str(folder / "venv"),
        "PIP_CACHE_DIR": str(folder / "pip"),
        "UV_CACHE_DIR": str(folder / "uv"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "MEMORY_DATA_DIR": str(folder / "data"),
        "MEMORY_PORT": str(free_port()),
        "EMBEDDING_PORT": str(free_port()),
        "PYTHONUNBUFFERED": "1",
    }


def free_port() -> int:
    """Return a TCP port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def start(repository: Path, environment: dict[str, str]) -> Start:
    """Start both servers, ask a question, stop them. Ends the program if one of these fails."""
    begin, marks = time.monotonic(), dict[str, float]()
    process = subprocess.Popen(
        ["./scripts/run"], cwd=repository, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    for line in process.stdout or []:
        for mark in ("Starting the embedding server", "Ctrl-C stops both"):
            if mark in line:
                marks[mark] = time.monotonic() - begin
        if len(marks) == 2:
            break
    else:
        sys.exit(f"./scripts/run ended with {process.wait()}; the marks it reached: {marks}")
    ask(f"http://127.0.0.1:{environment['MEMORY_PORT']}/search?q=what+is+the+code+phrase")
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    if process.returncode:
        sys.exit(f"./scripts/run ended with {process.returncode} after Ctrl-C")
    return Start(*marks.values())


def ask(url: str) -> None:
    """Ask for the code phrase of the example notes. Ends the program if it is not the first hit."""
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - an address of our own
        first = json.load(answer)["results"][0]["content"]
    if "blue bunny" not in first:
        sys.exit(f"the first hit is another: {first}")


def weigh(folder: Path) -> int:
    """Return the bytes on disk of all files in the folder; a hard link counts once."""
    found = {(s.st_dev, s.st_ino): s.st_blocks for s in map(Path.lstat, folder.rglob("*"))}
    return sum(found.values()) * 512


def download_again(venv: Path, folder: Path, environment: dict[str, str]) -> dict[str, int]:
    """Fetch every distribution of the environment as it was; return bytes by file name."""
    pip = [str(venv / "bin" / "python"), "-m", "pip"]
    listed = subprocess.run(
        [*pip, "list", "--format=freeze", "--exclude-editable", "--exclude=pip"],
        env=environment, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    # The interpreter brings a setuptools of its own; the build takes the newest.
    names = [line for line in listed if line.partition("==")[0] not in BUILD]
    subprocess.run(
        [*pip, "download", "-qq", "--no-deps", f"--dest={folder}", *names, *BUILD],
        env=environment, check=True,
    )  # fmt: skip
    return {file.name: file.stat().st_size for file in folder.iterdir()}


if __name__ == "__main__":
    main()
