"""The command as a process: it starts, says why it cannot, and stops in order."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
import pytest

from embedding_server.encoders.hashing import DIMENSIONS, NAME
from embedding_server.settings import Settings
from tests.embedding_server.edge import read_metrics, wait_until
from tests.embedding_server.running import wait_until_ready
from tests.servers.running import free_port

COMMAND = [sys.executable, "-m", "embedding_server"]
REPOSITORY = Path(__file__).resolve().parents[2]


def environment(folder: Path, **settings: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(REPOSITORY), "HOME": str(folder)} | settings


def run(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(folder, **settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    port = free_port()
    process = subprocess.Popen(
        COMMAND,
        cwd=folder,
        env=environment(folder, EMBEDDING_PORT=str(port), **settings),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("number", "least"), [(signal.SIGINT, DIMENSIONS), (signal.SIGTERM, DIMENSIONS + 1)]
)
def test_it_serves_until_a_signal(tmp_path: Path, number: signal.Signals, least: int) -> None:
    own = {"EMBEDDING_MODEL": NAME, "EMBEDDING_MIN_DIMENSIONS": str(least)}
    with running(tmp_path, **own) as (process, url):
        wait_until_ready(url)
        body = {"model": NAME, "input": "a text"}
        assert httpx.post(f"{url}/v1/embeddings", json=body).status_code == 200
        process.send_signal(number)
        _, log = process.communicate(timeout=10)
        assert process.returncode == 0
        assert "Traceback" not in log
        assert f"Ready: {NAME}" in log
        assert ("EMBEDDING_MIN_DIMENSIONS=257 is more than the model has" in log) == (
            least > DIMENSIONS
        )


def test_what_was_admitted_when_the_signal_comes_is_answered(tmp_path: Path) -> None:
    # Some seconds of work, for a text of so many words costs a millisecond and more.
    long = [f"{number} " + "word " * 1000 for number in range(1500)]
    bodies = [{"model": NAME, "input": texts} for texts in (long, long[:500], ["a text"] * 100)]
    no_limit = {
        "EMBEDDING_MAX_REQUEST_TOKENS": "10000000",
        "EMBEDDING_MAX_WAITING_TOKENS": "10000000",
    }
    with running(tmp_path, EMBEDDING_MODEL=NAME, **no_limit) as (process, url):
        wait_until_ready(url)
        with ThreadPoolExecutor(len(bodies)) as clients:
            asked = [
                clients.submit(httpx.post, f"{url}/v1/embeddings", json=body, timeout=120)
                for body in bodies
            ]
            wait_until(lambda: read_metrics(url)["request_texts_count"] == len(bodies))
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: refuses_connections(url))
            answers = [one.result() for one in asked]
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        assert [len(answer.json()["data"]) for answer in answers] == [1500, 500, 100]
        _, log = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Traceback" not in log


def refuses_connections(url: str) -> bool:
    try:
        httpx.get(f"{url}/health")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        # It was accepted in the moment in which the server stopped.
        return False
    return False


def test_answers_do_not_wait_for_acknowledgements(tmp_path: Path) -> None:
    with running(tmp_path, EMBEDDING_MODEL=NAME) as (_, url), httpx.Client() as client:
        wait_until_ready(url)
        seconds = []
        for _ in range(20):
            start = time.perf_counter()
            client.get(f"{url}/v1/models")
            seconds.append(time.perf_counter() - start)
    # With Nagle's algorithm every one of them takes over 40 ms; without it, one or two.
    assert median(seconds) < 0.03


def test_a_taken_port_is_one_line_and_status_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ended = run(tmp_path, EMBEDDING_PORT=port, EMBEDDING_MODEL=NAME)
    assert ended.returncode == 1
    assert ended.stderr == (
        f"graph-memory-embeddings: cannot listen on 127.0.0.1:{port}: "
        "Address already in use; set EMBEDDING_HOST or EMBEDDING_PORT\n"
    )


def test_an_unknown_host_is_one_line_and_status_1(tmp_path: Path) -> None:
    ended = run(
        tmp_path, EMBEDDING_HOST="host.invalid", EMBEDDING_MODEL=NAME, EMBEDDING_API_KEY="k"
    )
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert "cannot listen on host.invalid:8001" in line


def test_a_model_that_cannot_be_loaded_is_said_last_and_status_1(tmp_path: Path) -> None:
    model = "nobody/no-such-model"
    offline = {"EMBEDDING_MODEL": model, "HF_HUB_OFFLINE": "1"}
    # A busy machine takes longer to find out than a client has for its body.
    offline |= {"EMBEDDING_BODY_TIMEOUT_SECONDS": "110"}
    with running(tmp_path, **offline) as (process, url):
        wait_until(lambda: not refuses_connections(url))
        # A client in the middle of its body does not hold the process up, and is answered.
        with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as slow:
            slow.sendall(
                b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            )
            _, log = process.communicate(timeout=120)
            answer = slow.recv(10_000)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"code":"model_unavailable"' in answer
    assert process.returncode == 1
    assert "Traceback" not in log
    last = log.splitlines()[-1]
    assert last.startswith(f"graph-memory-embeddings: Cannot load {model}: ")


def test_a_wrong_setting_is_one_line_and_status_1(tmp_path: Path) -> None:
    ended = run(tmp_path, EMBEDDING_PORT="many", EMBEDDING_BATCH_SIZE="0")
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert "EMBEDDING_PORT: " in line
    assert "EMBEDDING_BATCH_SIZE: " in line


def test_what_is_nearly_a_setting_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EMBEDDING_DEVISE=cpu\nEMBEDDING_OTHERWISE=1\n")
    ended = run(tmp_path, EMBEDDING_MODLE=NAME, EMBEDDING_MODEL=str(tmp_path / "none"))
    told = [line for line in ended.stderr.splitlines() if "is no setting" in line]
    assert [line.partition(": ")[2].split()[0] for line in told] == [
        "EMBEDDING_DEVISE", "EMBEDDING_MODLE",
    ]  # fmt: skip
    assert told[1].endswith("there is EMBEDDING_MODEL")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_settings_are_read_from_a_file(tmp_path: Path, encoding: str) -> None:
    (tmp_path / ".env").write_text("EMBEDDING_PORT=none\nOTHER=1\n", encoding=encoding)
    assert "EMBEDDING_PORT: " in run(tmp_path).stderr


def test_a_file_that_is_no_text_in_utf_8_is_one_line_and_status_1(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EMBEDDING_PORT=18001\n", encoding="utf-16")
    ended = run(tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ".env is no text in UTF-8" in ended.stderr


def test_help_names_every_setting(tmp_path: Path) -> None:
    ended = run(tmp_path, "--help")
    assert ended.returncode == 0
    for name, knob in Settings.model_fields.items():
        assert f"EMBEDDING_{name.upper()}" in ended.stdout
        assert knob.description


def test_a_signal_during_the_load_ends_it_at_once(tmp_path: Path) -> None:
    with running(tmp_path, EMBEDDING_MODEL="all-MiniLM-L6-v2") as (process, url):
        while process.poll() is None:
            try:
                assert httpx.get(f"{url}/health", timeout=60).status_code == 503
                break
            except httpx.ConnectError:
                continue
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Ready" not in log
