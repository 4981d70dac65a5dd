"""Garbage from many clients at once: every answer is declared, none is missing, nothing stays.

The same requests in every run of the gate; the soak draws others by its seed.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from embedding_server.encoders import hashing
from tests.effort import SEED, amount, chance, examples
from tests.embedding_server.garbage import Sent, bad_bodies, damage, draw, requests
from tests.embedding_server.running import wait_until_ready
from tests.embedding_server.storm import Answer, Storm, find_fault
from tests.servers.running import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
DRAWN, TIMES = 500, amount("rude requests")
MINILM = "all-MiniLM-L6-v2"
# So many clients at once, one share of the requests after the other.
CONNECTIONS = (1, 64, 4, 32, 2, 16)
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Server:
    """A server process of our own."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return urlsplit(self.url).port or 0

    def measure_megabytes(self) -> float:
        """Return the memory that the process holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
        assert found
        return int(found[1]) / 1024


@contextmanager
def running_process(model: str, log: Path) -> Iterator[Server]:
    """Run the command as users do, its log in a file."""
    port = free_port()
    environment = os.environ | {"EMBEDDING_MODEL": model, "EMBEDDING_PORT": str(port)}
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "embedding_server"],
            env=environment,
            cwd=REPOSITORY,
            stdout=lines,
            stderr=lines,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url)
        yield Server(url, process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def plan(model: str, drawn: int, times: int) -> list[Sent]:
    """Return the drawn requests so many times in mixed order, each time damaged otherwise."""
    chooser = chance(20261122)
    once = draw(requests(model), drawn, 20261122 + SEED)
    planned = [damage(sent, chooser) for _ in range(times) for sent in once]
    chooser.shuffle(planned)
    return planned


def rage(port: int, planned: Sequence[Sent], dimensions: int) -> Storm:
    """Send everything, from one client at first and from up to 64 at once later."""
    storm = Storm(dimensions)
    share = -(-len(planned) // len(CONNECTIONS))
    for number, connections in enumerate(CONNECTIONS):
        part = planned[number * share : (number + 1) * share]
        asyncio.run(storm.run(port, part, connections))
    assert not storm.faults, f"seed {SEED}, {len(storm.faults)} faults:\n" + "\n".join(
        storm.faults[:5]
    )
    assert storm.statuses.total() == len(planned)
    return storm


def embed(url: str, model: str, text: str) -> Vector:
    body = {"model": model, "input": [text]}
    answer = httpx.post(f"{url}/v1/embeddings", json=body, timeout=60).raise_for_status()
    return np.array(answer.json()["data"][0]["embedding"], dtype=np.float32)


def read_gauge(url: str, name: str) -> float:
    lines = httpx.get(f"{url}/metrics", timeout=60).raise_for_status().text
    found = re.search(rf"^graph_memory_embedding_{name} (\S+)$", lines, re.MULTILINE)
    assert found, lines
    return float(found[1])


def wait_until_nothing_waits(url: str) -> None:
    """Return when the texts of clients that left are gone; each reading is a request."""
    for _ in range(2000):
        if read_gauge(url, "waiting_texts") == 0 and read_gauge(url, "waiting_tokens") == 0:
            return
    raise AssertionError(f"seed {SEED}: texts wait though every client is gone")


@pytest.mark.soak
def test_rude_requests_leave_nothing_behind(tmp_path: Path) -> None:
    planned = plan(hashing.NAME, DRAWN, TIMES)
    half = len(planned) // 2
    with running_process(hashing.NAME, tmp_path / "log") as server:
        before = embed(server.url, hashing.NAME, "The cat sleeps.")
        first = rage(server.port, planned[:half], hashing.DIMENSIONS)
        held = server.measure_megabytes()
        second = rage(server.port, planned[half:], hashing.DIMENSIONS)
        wait_until_nothing_waits(server.url)
        assert server.measure_megabytes() <= held * 1.1 + 20
        after = embed(server.url, hashing.NAME, "The cat sleeps.")
        assert server.process.poll() is None
    np.testing.assert_array_equal(before, after)
    statuses = first.statuses + second.statuses
    assert statuses.total() == DRAWN * TIMES
    # All kinds were there, or the storm would prove nothing.
    assert {200, 400, 404, 405} <= set(statuses)
    assert statuses[200] > statuses.total() / 6
    log = server.log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log, f"seed {SEED}: {log[log.index('Traceback') :][:3000]}"


@pytest.mark.soak
def test_the_real_model_outlives_a_storm(minilm_url: str) -> None:
    planned = plan(MINILM, drawn=amount("rude requests of a model"), times=1)
    before = embed(minilm_url, MINILM, "The cat sleeps.")
    storm = rage(urlsplit(minilm_url).port or 0, planned, dimensions=384)
    wait_until_nothing_waits(minilm_url)
    np.testing.assert_array_equal(embed(minilm_url, MINILM, "The cat sleeps."), before)
    assert {200, 400} <= set(storm.statuses)


@settings(
    max_examples=examples(150),
    suppress_health_check=list(HealthCheck),
)
@given(body=bad_bodies(hashing.NAME))
def test_a_bad_body_alone_gets_a_declared_answer(hashing_url: str, body: bytes) -> None:
    """Find the smallest body that breaks the server, where the storm finds any."""
    storm = Storm(hashing.DIMENSIONS)
    asyncio.run(storm.run(urlsplit(hashing_url).port or 0, [Sent(body)], connections=1))
    assert not storm.faults


VALID = Sent(b'{"model":"m","input":["a","b"]}', texts=2)


def answer(status: int = 200, body: str = "", **headers: str) -> Answer:
    return Answer(
        status, {"x-request-id": "1", "content-type": "application/json"} | headers, body.encode()
    )


def listed(*rows: list[float], indexes: Sequence[int] = (0, 1), tokens: int = 2) -> str:
    data = [{"index": i, "embedding": row} for i, row in zip(indexes, rows, strict=False)]
    return json.dumps({"data": data, "usage": {"prompt_tokens": tokens}})


REFUSAL = '{"error":{"message":"m","type":"t","param":null,"code":null}}'


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        (VALID, None),
        (VALID, answer(400, REFUSAL)),
        (VALID, answer(429, REFUSAL)),
        (VALID, answer(body=listed([1.0, 0.0]))),
        (VALID, answer(body=listed([1.0, 0.0], [1.0, 0.0], indexes=(1, 0)))),
        (VALID, answer(body=listed([1.0, 0.0], [1.0, 0.1]))),
        (VALID, answer(body=listed([1.0, 0.0], [1.0, float("nan")]).replace("NaN", "null"))),
        (VALID, answer(body=listed([1.0, 0.0], [1.0, 0.0, 0.0]))),
        (VALID, answer(body=listed([1.0, 0.0], [1.0, 0.0], tokens=1))),
        (Sent(b"{"), answer(422, REFUSAL)),
        (Sent(b"{"), answer(503, REFUSAL)),
        (Sent(b"{"), answer(500, REFUSAL)),
        (Sent(b"{"), answer(400, '{"detail":"m"}')),
        (Sent(b"{"), answer(400, REFUSAL.replace('"code":null', '"code":7'))),
        (Sent(b"{"), answer(400, REFUSAL.replace("null}", 'null,"more":1}'))),
        (Sent(b"{"), Answer(400, {}, REFUSAL.encode())),
    ],
)
def test_the_check_sees_what_is_wrong(sent: Sent, given: Answer | None) -> None:
    assert find_fault(sent, given, dimensions=2)


def test_the_check_is_content_with_what_is_right() -> None:
    assert not find_fault(VALID, answer(body=listed([1.0, 0.0], [0.6, 0.8])), dimensions=2)
    assert not find_fault(VALID, answer(429, REFUSAL, **{"retry-after": "2"}), dimensions=2)
    assert not find_fault(Sent(b"{"), answer(400, REFUSAL), dimensions=2)
