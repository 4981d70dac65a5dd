"""The one command: both servers start, the notes are read, and Ctrl-C stops both."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.conftest import REPOSITORY
from tests.servers.running import free_port


@pytest.mark.parametrize(
    "stops", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]]
)
def test_everything_starts_reads_the_notes_and_stops(
    tmp_path: Path, stops: list[signal.Signals]
) -> None:
    ports = free_port(), free_port()
    environment = os.environ | {
        "EMBEDDING_PORT": str(ports[0]), "EMBEDDING_MODEL": "hashing-256",
        "MEMORY_PORT": str(ports[1]), "MEMORY_DATA_DIR": str(tmp_path),
    }  # fmt: skip
    said = tmp_path / "said"
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "scripts/run_both.py"], env=environment, cwd=REPOSITORY,
            stdout=out, stderr=out,
        )  # fmt: skip
    try:
        _wait_until(lambda: "Ctrl-C stops both" in said.read_text(), process)
        assert "13 files, 63 memories (63 new" in said.read_text()
        [command] = [line for line in said.read_text().splitlines() if "search?q=" in line]
        answer = httpx.get(command.split("'")[1])
        assert "blue bunny" in answer.json()["results"][0]["content"]
    finally:
        for stop in stops:
            process.send_signal(stop)
            # So long it takes to begin to stop, and no longer than to end.
            time.sleep(0.2)
        status = process.wait(timeout=30)
    assert status == 0
    for port in ports:
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/health/live")


def _wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if is_so():
            return
        time.sleep(0.1)
    raise TimeoutError(f"ended with {process.poll()}")
