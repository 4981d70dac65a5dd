"""Where attacks take place: services of one checkout, each with a fresh store, watched outside."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from scripts.servers.processes import free_port, wait_until_answered
from scripts.servers.watched_service import Resident, Setup, WatchedService

_READY_SECONDS: Final = 120
_WATCHING: Final = Path(__file__).with_name("watching.py")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer and its seconds; `status` 0 is none within the patience."""

    status: int
    seconds: float
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_cut(self) -> bool:
        """Whether the patience ended before the answer came."""
        return self.status == 0


@dataclass(frozen=True, slots=True)
class Target:
    """One service under attack; `patience` is the longest wait for one answer, in seconds."""

    watched: WatchedService
    folder: Path
    log: Path
    patience: float

    @property
    def url(self) -> str:
        """The service's base URL."""
        return self.watched.url

    @property
    def port(self) -> int:
        """The service's port."""
        return int(self.url.rpartition(":")[2])

    def ask(self, method: str, path: str, **sent: Any) -> Answered:
        """Send one request on a connection of its own; what httpx takes may be `sent`."""
        started = time.perf_counter()
        try:
            with httpx.Client(base_url=self.url, timeout=self.patience) as client:
                answer = client.request(method, path, **sent)
        except httpx.TransportError:
            return Answered(0, time.perf_counter() - started)
        taken = time.perf_counter() - started
        return Answered(answer.status_code, taken, _read(answer), answer.headers)

    def post(self, path: str, /, **body: Any) -> Answered:
        """Post a JSON body."""
        return self.ask("POST", path, json=body)

    def resident(self) -> Resident:
        """Return what the service holds in RAM."""
        return self.watched.resident()

    def log_text(self) -> str:
        """Return everything the service printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Arena:
    """What attacks are given: the checkout, a good embedder, how large and how patient."""

    checkout: Path
    embedding_url: str
    size: float = 1.0
    patience: float = 60.0

    def sized(self, number: int) -> int:
        """Return a number of the issue, scaled."""
        return max(1, round(number * self.size))

    @contextmanager
    def target(self, folder: Path | None = None, /, **settings: str) -> Iterator[Target]:
        """Start a service with MEMORY_… `settings`, on a store of its own unless one is given.

        Names that do not begin with MEMORY_ are put into its environment as well. It is killed at
        the end: after an attack it may be busy for hours.
        """
        with TemporaryDirectory() as own:
            place = folder or Path(own) / "data"
            place.mkdir(exist_ok=True)
            log = Path(own) / "log"
            process, url = self.spawn(place, log, settings)
            started = time.perf_counter()
            try:
                wait_until_answered(f"{url}/health/ready", [process], _READY_SECONDS)
                watched = WatchedService(process, url, time.perf_counter() - started)
                yield Target(watched, place, log, self.patience)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait(timeout=30)

    def spawn(
        self, folder: Path, log: Path, settings: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes], str]:
        """Start the process alone; what it prints goes to `log`."""
        given = {"MEMORY_DATABASE_TIMEOUT_SECONDS": "30", "PYTHONPATH": str(self.checkout)}
        setup = Setup(folder, self.embedding_url, "resident", {**given, **settings})
        port = free_port()
        command = [sys.executable, "-m", "service", "serve"]
        with log.open("ab") as out:
            process = subprocess.Popen(
                command, env=setup.environment(port), cwd=self.checkout, stdout=out, stderr=out
            )
        return process, f"http://127.0.0.1:{port}"


class Longest:
    """The longest answer of /health/live; known once the watch has ended."""

    seconds = 0.0


@contextmanager
def live_watched(target: Target) -> Iterator[Longest]:
    """Poll /health/live every 50 ms from another process while the block runs."""
    longest = Longest()
    command = [sys.executable, str(_WATCHING), f"{target.url}/health/live"]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.3)  # until it polls
    try:
        yield longest
    finally:
        told, _ = watcher.communicate(timeout=30)
        longest.seconds = float(told)


def megabytes(before: Resident, after: Resident) -> float:
    """Return the growth of the resident set, in MB (10^6 bytes)."""
    return round((after.now - before.now) / 1e6, 1)


def _read(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except json.JSONDecodeError:
        return answer.text
