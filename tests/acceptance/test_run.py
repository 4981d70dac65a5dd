"""The one command: both servers start, the notes are read, and Ctrl-C stops both."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

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
    environment = _environment(tmp_path)
    with _begun(environment, tmp_path / "said") as process:
        try:
            _wait_until(lambda: "Ctrl-C stops both" in _said(tmp_path), process)
            assert "13 files, 63 memories (63 new" in _said(tmp_path)
            [command] = [line for line in _said(tmp_path).splitlines() if "search?q=" in line]
            answer = httpx.get(command.split("'")[1])
            assert "blue bunny" in answer.json()["results"][0]["content"]
        finally:
            for stop in stops:
                process.send_signal(stop)
                # So long it takes to begin to stop, and no longer than to end.
                time.sleep(0.2)
            status = process.wait(timeout=30)
    assert status == 0
    for port in (environment["EMBEDDING_PORT"], environment["MEMORY_PORT"]):
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/health/live")


def test_where_keys_are_the_notes_are_read_with_that_of_the_commands(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    made = subprocess.run(
        [sys.executable, "-m", "service", "keys", "create", "--name", "own"], env=environment,
        cwd=REPOSITORY, check=True, capture_output=True, text=True,
    )  # fmt: skip
    key = made.stdout.strip()
    with _begun(environment | {"MEMORY_API_KEY": key}, tmp_path / "said") as process:
        try:
            _wait_until(lambda: "Ctrl-C stops both" in _said(tmp_path), process)
            assert "13 files, 63 memories (63 new" in _said(tmp_path)
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.mark.parametrize("name", ["MEMORY_HOST", "MEMORY_PORT"])
def test_a_socket_and_a_free_port_are_asked_as_the_greeting_says(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.sock"
    own = {"MEMORY_HOST": f"unix:{path}"} if name == "MEMORY_HOST" else {"MEMORY_PORT": "0"}
    with _begun(_environment(tmp_path) | own, tmp_path / "said") as process:
        try:
            _wait_until(lambda: "Ctrl-C stops both" in _said(tmp_path), process)
            [command] = [line for line in _said(tmp_path).splitlines() if "search?q=" in line]
            answer = subprocess.run(shlex.split(command), check=True, capture_output=True)
            assert "blue bunny" in json.loads(answer.stdout)["results"][0]["content"]
        finally:
            process.terminate()
            assert process.wait(timeout=30) == 0
    assert not path.exists()


def test_folders_of_somebodys_own_take_the_place_of_the_examples(tmp_path: Path) -> None:
    """An agent is told them as its own: a person's code phrase, what it may spend."""
    environment = _environment(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    # Of the same name as a note of the examples, and as one of an agent that pushed it.
    (own / "MEMORY.md").write_text("# Own\n\nThe ferry leaves at nine.\n")
    pushed = {"source": "people/jr.md", "text": "# JR\n\nOf somebody else.\n"}
    told: list[tuple[str, str]] = []
    for sources in ("", str(own), str(own)):
        with _begun(environment | {"MEMORY_SOURCES": sources}, tmp_path / "said") as process:
            try:
                _wait_until(lambda: "Ctrl-C stops both" in _said(tmp_path), process)
                assert ("example notes" in _said(tmp_path)) == (not sources)
                with httpx.Client(base_url=f"http://127.0.0.1:{environment['MEMORY_PORT']}") as at:
                    if not sources:
                        at.post("/ingest", json=pushed).raise_for_status()
                    listed = at.get("/memories", params={"limit": 100}).json()["memories"]
            finally:
                process.terminate()
                process.wait(timeout=30)
        told = [(one["source"]["uri"], one["content"]) for one in listed]
    assert sorted(told) == [
        ("MEMORY.md", "The ferry leaves at nine."), ("people/jr.md", "Of somebody else."),
    ]  # fmt: skip


def test_a_second_start_leaves_the_first_service_alone(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    asked: list[str] = []

    class First(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_GET  # noqa: N815 - the name that the server asks for

    first = ThreadingHTTPServer(("127.0.0.1", int(environment["MEMORY_PORT"])), First)
    Thread(target=first.serve_forever, daemon=True).start()
    try:
        with _begun(environment, tmp_path / "said") as process:
            assert process.wait(timeout=60) == 1
    finally:
        first.shutdown()
        first.server_close()
    assert asked == ["GET /health/live"]
    assert "already: stop it, or set another MEMORY_PORT" in " ".join(_said(tmp_path).split())
    assert "Ctrl-C" not in _said(tmp_path)
    assert not (tmp_path / "data").exists()


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "EMBEDDING_PORT": str(free_port()), "EMBEDDING_MODEL": "hashing-256",
        "MEMORY_PORT": str(free_port()), "MEMORY_DATA_DIR": str(folder / "data"),
    }  # fmt: skip


@contextmanager
def _begun(environment: dict[str, str], said: Path) -> Iterator[subprocess.Popen[bytes]]:
    with said.open("w") as out:
        yield subprocess.Popen(
            [sys.executable, "scripts/run_both.py"], env=environment, cwd=REPOSITORY,
            stdout=out, stderr=out,
        )  # fmt: skip


def _said(folder: Path) -> str:
    return (folder / "said").read_text()


def _wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if is_so():
            return
        time.sleep(0.1)
    raise TimeoutError(f"ended with {process.poll()}")
