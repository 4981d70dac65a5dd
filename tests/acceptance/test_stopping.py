"""Stopped twice, the service goes at once: what it breaks off is told, what it answered stays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.servers.raw import raw_client
from tests.servers.running import REPOSITORY, free_port, service_process, wait_for
from tests.waiting import until

# One body that never comes whole: its request is there for as long as the service waits for it.
_HALF: Final = (
    "POST /memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    'Content-Length: 500\r\n\r\n{"text": "half'
)
# Shorter than requests are waited for after the first signal, and more than a close needs.
_AT_ONCE_SECONDS: Final = 8


def test_a_second_ctrl_c_breaks_off_what_is_under_way_and_says_so(tmp_path: Path) -> None:
    with _service(tmp_path) as (process, url):
        kept = httpx.post(f"{url}/memories", json={"text": "The gateway is kept."}).json()["id"]
        with raw_client(url) as asked:
            asked.send(_HALF)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert process.poll() is None, "a request is under way"
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            said, _ = asked.until_closed()
        log, _ = process.communicate(timeout=30)
        took = time.monotonic() - begun
    assert said.startswith(b"HTTP/1.1 503 ")
    assert b"/problems/stopping" in said
    assert b"retry-after: 2" in said.lower()
    assert took < _AT_ONCE_SECONDS
    assert process.returncode == 130
    assert "Traceback" not in log
    with _service(tmp_path) as (_, url):
        assert httpx.get(f"{url}/memories/{kept}").json()["content"] == "The gateway is kept."


@pytest.mark.parametrize("seconds", [0, 5])
def test_ctrl_c_ends_a_command_that_loads_or_waits_for_a_line(
    tmp_path: Path, seconds: float
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "mcp"], cwd=tmp_path, text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        # It loads, and is no longer the interpreter alone.
        maps = Path(f"/proc/{process.pid}/maps")
        until(lambda: "pydantic_core" in maps.read_text())
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        # A shell tells both as 130.
        assert process.wait(timeout=_AT_ONCE_SECONDS) in {-signal.SIGINT, 130}
        assert process.stdout is not None
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.communicate()


@contextmanager
def _service(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with service_process(
        MEMORY_PORT=str(port),
        MEMORY_DATA_DIR=str(folder),
        MEMORY_EMBEDDING_URL="http://127.0.0.1:9",
    ) as process:
        wait_for(f"{url}/health/live", lambda: process.poll() is None)
        yield process, url
