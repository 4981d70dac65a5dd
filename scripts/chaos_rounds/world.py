"""What a round happens to: the service and its database as processes, their clock, their disk."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from scripts.chaos_rounds.draws import Round
from scripts.servers.hostile_embedder import HostileEmbedder, hostile_embedder
from scripts.servers.processes import REPOSITORY
from tests.servers.clock_shim import ClockShim, build_clock_shim, why_no_clock_shim
from tests.servers.running import free_port
from tests.stores.template import lay_store

_DATABASE: Final = REPOSITORY / "tests" / "servers" / "surreal_server.py"
_PASSWORD: Final = "secret"  # noqa: S105 - a fixture's
# A service that ends at once (its disk is full) is started again, as a supervisor would.
_START_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 0.2
# SIGTERM: requests under way may take 10 s, background work a little longer.
_END_SECONDS: Final = 30.0
_DISK_MB: Final = 256
_BLOCK: Final = 1 << 20
_UNLIMITED: Final = resource.RLIM_INFINITY


@dataclass(slots=True)
class Disk:
    """The disk of the stores: a small one of its own where this user may mount one.

    Elsewhere a full disk is a limit on the size of files of the processes that write them
    (EFBIG instead of ENOSPC).
    """

    folder: Path
    is_own: bool

    def fill(self, processes: list[int]) -> None:
        """Leave no room."""
        if not self.is_own:
            _limit_files(processes, 0)
            return
        ballast = os.open(self.folder / "ballast", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for size in (_BLOCK, 4096, 1):
                with suppress(OSError):
                    while True:
                        os.write(ballast, bytes(size))
        finally:
            os.close(ballast)

    def free(self, processes: list[int]) -> None:
        """Give the room back."""
        if self.is_own:
            (self.folder / "ballast").unlink(missing_ok=True)
        else:
            _limit_files(processes, _UNLIMITED)


def _limit_files(processes: list[int], most: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, _UNLIMITED))


@dataclass(slots=True)
class Down:
    """When the service was not to answer: from a kill, or a freeze, to its next answer."""

    since: float
    until: float = float("inf")


@dataclass(slots=True)
class World:
    """The processes of a round; `downs` in seconds of time.monotonic()."""

    round: Round
    disk: Disk
    embedder: HostileEmbedder
    clock: ClockShim | None
    log: Path
    port: int = field(default_factory=free_port)
    database_port: int = field(default_factory=free_port)
    downs: list[Down] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _service: subprocess.Popen[bytes] | None = None
    _database: subprocess.Popen[bytes] | None = None
    # Whoever kills, freezes or starts the service does it alone.
    turn: threading.RLock = field(default_factory=threading.RLock)
    _database_turn: threading.RLock = field(default_factory=threading.RLock)

    @property
    def url(self) -> str:
        """Where the service is, however often it starts."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def notes(self) -> Path:
        """The folder that scans read."""
        return self.disk.folder.parent / "notes"

    @property
    def store(self) -> Path:
        """The folder of the store, whoever holds it."""
        return self.disk.folder / "data" / "store"

    def environment(self) -> Mapping[str, str]:
        """Return the environment of the service; nobody's own settings leak in."""
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("MEMORY_")}
        given = {
            "MEMORY_PORT": str(self.port), "MEMORY_DATA_DIR": str(self.disk.folder / "data"),
            "MEMORY_EMBEDDING_URL": self.embedder.url, "MEMORY_SOURCES": str(self.notes),
            "MEMORY_SEARCH_ENGINE": self.round.engine, "MEMORY_LOG_LEVEL": "warning",
            "MEMORY_CONCEPTS_FILE": "", "MEMORY_EMBEDDING_MODEL": "",
        }  # fmt: skip
        if self.round.store == "server":
            given |= {
                "MEMORY_DATABASE_URL": f"ws://127.0.0.1:{self.database_port}/rpc",
                "MEMORY_DATABASE_USER": "root", "MEMORY_DATABASE_PASSWORD": _PASSWORD,
            }  # fmt: skip
        return {**inherited, **given, **(self.clock.environment if self.clock else {})}

    def move_clock(self, seconds: float) -> None:
        """Set the clock of service and database to the true time and so many seconds."""
        if self.clock:
            self.clock.move(seconds)

    def pids(self) -> list[int]:
        """Return the processes that write to the disk."""
        return [one.pid for one in (self._service, self._database) if one]

    def start(self) -> None:
        """Start the service, again and again if need be; raises TimeoutError after two minutes."""
        with self.turn:
            down = self._down()
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end:
                with self.log.open("ab") as log:
                    self._service = subprocess.Popen(
                        [sys.executable, "-m", "service", "serve"], env=self.environment(),
                        cwd=REPOSITORY, stdout=log, stderr=log,
                    )  # fmt: skip
                if self._is_live(end):
                    down.until = time.monotonic()
                    return
                time.sleep(_PAUSE_SECONDS)
        msg = f"the service did not start within {_START_SECONDS:.0f} s"
        raise TimeoutError(msg)

    def _is_live(self, end: float) -> bool:
        service = self._service
        while service and service.poll() is None and time.monotonic() < end:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/health/live", timeout=2).status_code == 200:
                    return True
            time.sleep(0.03)
        self.end(signal.SIGKILL)
        return False

    def end(self, number: signal.Signals) -> None:
        """End the service by a signal and wait for it."""
        with self.turn:
            service, self._service = self._service, None
            if service is None:
                return
            self._down()
            service.send_signal(number)
            try:
                service.wait(timeout=_END_SECONDS)
            except subprocess.TimeoutExpired:
                self.faults.append(
                    f"hung: the service did not end {_END_SECONDS:.0f} s after it was told to"
                )
                service.kill()
                service.wait()

    def has_died(self) -> int | None:
        """Return the status of a service that ended though nobody told it to; None if it runs."""
        with self.turn:
            return self._service.poll() if self._service else None

    def freeze(self, seconds: float) -> None:
        """Stop the service in its tracks for so long."""
        with self.turn:
            if self._service is None:
                return
            down = self._down()
            self._service.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            self._service.send_signal(signal.SIGCONT)
            down.until = time.monotonic()

    def _down(self) -> Down:
        """Return the present time without answers, or begin one."""
        if not self.downs or self.downs[-1].until < float("inf"):
            self.downs.append(Down(time.monotonic()))
        return self.downs[-1]

    def start_database(self) -> None:
        """Start the database's own process unless it runs, and wait until it listens."""
        end = time.monotonic() + _START_SECONDS
        with self._database_turn:
            while self._database is None:
                if time.monotonic() > end:
                    msg = f"the database did not start within {_START_SECONDS:.0f} s"
                    raise TimeoutError(msg)
                self._try_database()

    def _try_database(self) -> None:
        command = [
            sys.executable, str(_DATABASE), "--port", str(self.database_port),
            "--path", str(self.store), "--password", _PASSWORD,
        ]  # fmt: skip
        # Its clock is another machine's and stays: set back by days, it hangs for days by itself.
        with self.log.open("ab") as log:
            self._database = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        told = self._database.stdout.readline() if self._database.stdout else b""
        if not told.startswith(b"ready"):
            self.end_database(signal.SIGKILL)
            time.sleep(_PAUSE_SECONDS)

    def end_database(self, number: signal.Signals) -> None:
        """End the database's process and wait for it."""
        with self._database_turn:
            database, self._database = self._database, None
            if database is not None:
                database.send_signal(number)
                database.communicate()

    def signal_database(self, number: signal.Signals) -> None:
        """Send the database's process a signal."""
        if self._database is not None:
            self._database.send_signal(number)


@contextmanager
def world_of(drawn: Round, folder: Path) -> Iterator[World]:
    """Make the world of a round in `folder` and start it; all of it ends with this."""
    with _disk(folder / "disk") as disk, hostile_embedder() as embedder:
        clock = None if why_no_clock_shim() else build_clock_shim(folder)
        world = World(drawn, disk, embedder, clock, folder / "service.log")
        world.notes.mkdir()
        lay_store(world.store)
        try:
            if drawn.store == "server":
                world.start_database()
            world.start()
            yield world
        finally:
            world.end(signal.SIGKILL)
            world.end_database(signal.SIGKILL)


@contextmanager
def _disk(folder: Path) -> Iterator[Disk]:
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", str(folder)]
    is_own = os.geteuid() == 0 and _is_done(mount)
    try:
        (folder / "data").mkdir()
        yield Disk(folder, is_own)
    finally:
        if is_own:
            _is_done(["umount", "--lazy", str(folder)])


def _is_done(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
