"""Server processes of a measurement: a free port for each, and waiting until it answers."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import httpx

REPOSITORY: Final = Path(__file__).resolve().parents[2]
# Often: the time from a start to the first answer is one of the things measured.
_POLL_SECONDS: Final = 0.02
_SERVER_SECONDS: Final = 60

Answer = TypeVar("Answer")


def free_port() -> int:
    """Return a TCP port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_answered(
    url: str, running: Sequence[subprocess.Popen[bytes]], patience_seconds: float
) -> None:
    """Poll until a URL answers 200; raises SystemExit when a server ends or takes too long."""
    with httpx.Client(timeout=30) as client:

        def ask() -> bool | None:
            try:
                return client.get(url).status_code == 200 or None
            except httpx.TransportError:
                return None

        wait_for(ask, running, url, patience_seconds)


def wait_for(
    ask: Callable[[], Answer | None],
    running: Sequence[subprocess.Popen[bytes]],
    what: str,
    patience_seconds: float,
) -> Answer:
    """Call `ask` until it returns something; raises SystemExit as `wait_until_answered` does."""
    end = time.monotonic() + patience_seconds
    while time.monotonic() < end:
        if any(process.poll() is not None for process in running):
            sys.exit(f"{what}: a server ended before it was ready")
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(_POLL_SECONDS)
    sys.exit(f"{what}: not ready within {patience_seconds:,.0f} s")


@contextmanager
def server_process(script: Path, path: str, *options: str) -> Iterator[str]:
    """Run a script that serves at `--port`; yields its base URL once `path` is answered there."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, str(script), "--port", str(port), *options]
    process = subprocess.Popen(command, cwd=REPOSITORY)
    try:
        wait_until_answered(f"{url}{path}", [process], _SERVER_SECONDS)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)
