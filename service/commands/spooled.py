"""Captures that wait beside a program which sends them itself, sent in its place once more."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError, Problem
from service.commands.connections import Connection, waiting
from service.commands.program import Program
from service.commands.terminal import console, printable

_LOCK: Final = "drain.lock"
# As the plugin says it: whoever holds it longer was killed, and what is never taken. Another
# program that listens where the service was names no problem so.
_LOCK_SECONDS: Final = 60
_USELESS: Final = frozenset({400, 413, 415, 422})
_NAMED: Final = "/problems/"
_SWITCHED_OFF: Final = f"{_NAMED}switched-off"


async def send_captures(program: Program, connection: Connection) -> None:
    """Send what waits, each session's in its order; nothing while the program is at it.

    As the plugin does it: what the service will never take goes, a session that it refuses
    otherwise waits and holds up no other.
    """
    if not waiting(program) or not _take(program.own / _LOCK):
        return
    held: set[str] = set()
    try:
        # In the plugin's place: what it captured is not another program's.
        named = f"graph-memory-{program.name}"
        async with AsyncGraphMemory(connection.url, key=connection.key, client=named) as memory:
            for path in waiting(program):
                session = path.stem.partition("-")[2]
                if session in held:
                    continue
                if await _is_over(memory, _read(path)):
                    path.unlink()
                else:
                    held.add(session)
    except (ClientError, OSError, LookupError, TypeError):
        return
    finally:
        (program.own / _LOCK).unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """Return what a capture says; None where it cannot be read now."""
    try:
        return path.read_bytes()
    except OSError:
        return None


async def _is_over(memory: AsyncGraphMemory, told: bytes | None) -> bool:
    """Send a capture; returns whether it can go."""
    if told is None:
        return False
    try:
        item = json.loads(told)
    except ValueError:
        # Half a file, of a disk that was full, says nothing: it can only go.
        return True
    try:
        done = await memory.observe(**item)
    except Problem as problem:
        if not _is_for_good(problem):
            return False
        _tell(f"A capture that is refused for good is dropped: {problem.detail}")
    else:
        for warning in done["warnings"]:
            _tell(f"Session {item['session']}: {warning}")
    return True


def _is_for_good(problem: Problem) -> bool:
    name = problem.refusal.type
    return name == _SWITCHED_OFF or (problem.status in _USELESS and name.startswith(_NAMED))


def _tell(text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _take(lock: Path) -> bool:
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > _LOCK_SECONDS:
            lock.unlink()
    try:
        lock.open("x").close()
    except OSError:
        return False
    return True
