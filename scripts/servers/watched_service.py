"""The service as a process of its own, watched from outside: start, memory, sudden death."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from scripts.servers.processes import (
    REPOSITORY,
    free_port,
    server_process,
    wait_until_answered,
)

# The resident engine loads a million memories first.
_PATIENCE_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Resident:
    """What a process holds in RAM now, and the most it ever held, in bytes.

    `anonymous` is what is left of `now` without pages of files, which it would give back.
    """

    now: int
    peak: int
    anonymous: int


@dataclass(frozen=True, slots=True)
class Setup:
    """How services are started: the store's folder, the embedder, the engine, MEMORY_… besides.

    `checkout` is whose code runs, `python` what runs it.
    """

    folder: Path
    embedding_url: str
    engine: str
    settings: Mapping[str, str] = field(default_factory=dict)
    checkout: Path = REPOSITORY
    python: str = sys.executable

    def environment(self, port: int) -> Mapping[str, str]:
        """Return the whole environment of a service; nobody's own settings leak in."""
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("MEMORY_")}
        given = {
            "MEMORY_PORT": str(port), "MEMORY_DATA_DIR": str(self.folder),
            "MEMORY_EMBEDDING_URL": self.embedding_url, "MEMORY_SEARCH_ENGINE": self.engine,
            "MEMORY_LOG_LEVEL": "warning", "MEMORY_SOURCES": "", "MEMORY_CONCEPTS_FILE": "",
            # Counting all rows of a large store for /stats is not what is measured here.
            "MEMORY_DATABASE_TIMEOUT_SECONDS": "600",
            "PYTHONPATH": str(self.checkout),
        }  # fmt: skip
        return {**inherited, **given, **self.settings}


@dataclass(frozen=True, slots=True)
class WatchedService:
    """A service that is ready, and how long that took from its spawning."""

    process: subprocess.Popen[bytes]
    url: str
    ready_seconds: float

    def connect(self) -> HTTPConnection:
        """Return a connection by the standard library: no client costs less of its own."""
        return HTTPConnection(urlsplit(self.url).netloc, timeout=_PATIENCE_SECONDS)

    def resident(self) -> Resident:
        """Return the memory of the service's process, and what its readers have beside it.

        They map the same files, which count once; of theirs the most ever held is not known.
        """
        names = ("VmRSS", "VmHWM", "RssAnon")
        own = [_kilobytes(self.process.pid, name) for name in names]
        others = sum(_kilobytes(reader, "RssAnon") for reader in self._readers())
        return Resident(*((one + others) * 1024 for one in own))

    def cpu_seconds(self) -> float:
        """Return the processor time that it and its readers have used, of all cores."""
        return sum(map(_cpu_seconds, [self.process.pid, *self._readers()]))

    def _readers(self) -> list[int]:
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return list(map(int, children.split()))

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)

    def stop(self) -> None:
        """Ask it to end, and wait; a dead one is no fault."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=120)


def _kilobytes(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    facts = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(facts[name].split()[0])


def _cpu_seconds(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def start_service(setup: Setup) -> WatchedService:
    """Start a service and wait until it is ready; raises SystemExit when it ends before that."""
    port = free_port()
    url, started = f"http://127.0.0.1:{port}", time.perf_counter()
    process = subprocess.Popen(
        [setup.python, "-m", "service", "serve"], env=setup.environment(port), cwd=setup.checkout
    )
    try:
        wait_until_answered(f"{url}/health/ready", [process], _PATIENCE_SECONDS)
    except BaseException:
        process.kill()
        raise
    return WatchedService(process, url, time.perf_counter() - started)


@contextmanager
def watched_service(setup: Setup) -> Iterator[WatchedService]:
    """Start a service, stop it at the end."""
    service = start_service(setup)
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def fake_embedding_server(dimensions: int, *options: str) -> Iterator[str]:
    """Run the fake embedding server; yields its base URL."""
    script = Path(__file__).with_name("fake_embedding_server.py")
    with server_process(script, "/v1/models", "--dimensions", str(dimensions), *options) as url:
        yield url


def index_state(client: httpx.Client) -> dict[str, Any] | None:
    """Return what GET /index says of agent main; None of an engine that holds nothing in RAM."""
    answer = client.get("/index")
    return answer.json() if answer.status_code == 200 else None


def empty_resident(setup: Setup) -> Resident:
    """Return the memory of a service that holds one memory and has answered for it."""
    with tempfile.TemporaryDirectory() as folder:
        empty = replace(setup, folder=Path(folder))
        with watched_service(empty) as service, httpx.Client(base_url=service.url) as client:
            client.post("/memories", json={"text": "The one memory here"}).raise_for_status()
            for path in ("/search", "/graph-recall") * 5:
                client.post(path, json={"query": "one memory"}).raise_for_status()
            return service.resident()
