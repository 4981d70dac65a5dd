"""Doing what a round drew: each fault begins at its moment, and is mended at its own."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from scripts.chaos_rounds.draws import Fault, Kind
from scripts.chaos_rounds.world import World
from scripts.servers.hostile_embedder import WELL


class Faults:
    """The faults of a round, each in a thread of its own."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._over = threading.Event()
        self._began = time.monotonic()
        self._threads = [
            threading.Thread(target=self._carry_out, args=(fault,)) for fault in world.round.faults
        ]

    def begin(self) -> None:
        """Let the round's time begin."""
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()

    def lift(self) -> None:
        """Mend everything now, and wait until it is mended."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _carry_out(self, fault: Fault) -> None:
        if self._over.wait(self._began + fault.at - time.monotonic()):
            return
        try:
            with _DO[fault.kind](self._world, fault):
                self._over.wait(fault.lasts)
        except TimeoutError as error:
            self._world.faults.append(f"hung: {error}, {fault}")


@contextmanager
def _kill(world: World, _: Fault) -> Iterator[None]:
    with world.turn:
        world.end(signal.SIGKILL)
        world.start()
    yield


@contextmanager
def _terminate(world: World, _: Fault) -> Iterator[None]:
    with world.turn:
        world.end(signal.SIGTERM)
        world.start()
    yield


@contextmanager
def _freeze(world: World, fault: Fault) -> Iterator[None]:
    world.freeze(fault.lasts)
    yield


@contextmanager
def _full_disk(world: World, _: Fault) -> Iterator[None]:
    world.disk.fill(world.pids())
    try:
        yield
    finally:
        world.disk.free(world.pids())


@contextmanager
def _clock(world: World, fault: Fault) -> Iterator[None]:
    world.move_clock(fault.move)
    try:
        yield
    finally:
        world.move_clock(0)


@contextmanager
def _clock_between_runs(world: World, fault: Fault) -> Iterator[None]:
    with world.turn:
        world.end(signal.SIGTERM)
        world.move_clock(fault.move)
        world.start()
    try:
        yield
    finally:
        world.move_clock(0)


@contextmanager
def _embedder(world: World, fault: Fault) -> Iterator[None]:
    world.embedder.become(fault.mood or WELL)
    try:
        yield
    finally:
        world.embedder.become(WELL)


@contextmanager
def _database_killed(world: World, _: Fault) -> Iterator[None]:
    world.end_database(signal.SIGKILL)
    try:
        yield
    finally:
        world.start_database()


@contextmanager
def _database_frozen(world: World, _: Fault) -> Iterator[None]:
    world.signal_database(signal.SIGSTOP)
    try:
        yield
    finally:
        world.signal_database(signal.SIGCONT)


_DO: Final[dict[Kind, Callable[[World, Fault], AbstractContextManager[None]]]] = {
    "kill": _kill, "terminate": _terminate, "freeze": _freeze, "full disk": _full_disk,
    "clock": _clock, "clock between runs": _clock_between_runs, "embedder": _embedder,
    "database killed": _database_killed, "database frozen": _database_frozen,
}  # fmt: skip
