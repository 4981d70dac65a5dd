"""Captures that wait beside a program which sends them itself, sent in its place once more."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError
from service.commands.connections import Connection, waiting
from service.commands.program import Program
from service.commands.terminal import console, printable

_LOCK: Final = "drain.lock"
# As the plugin says it: whoever holds it longer was killed.
_LOCK_SECONDS: Final = 60


async def send_captures(program: Program, connection: Connection) -> None:
    """Send what waits, in its order, up to what does not go; nothing while the program is at it."""
    if not waiting(program) or not _take(program.own / _LOCK):
        return
    try:
        async with AsyncGraphMemory(connection.url, key=connection.key) as memory:
            for path in waiting(program):
                item = json.loads(path.read_text("utf-8"))
                done = await memory.observe(**item)
                path.unlink()
                for warning in done["warnings"]:
                    told = printable(f"Session {item['session']}: {warning}")
                    console.print(told, markup=False, highlight=False, soft_wrap=True)
    except (ClientError, OSError, LookupError, ValueError, TypeError):
        return
    finally:
        (program.own / _LOCK).unlink(missing_ok=True)


def _take(lock: Path) -> bool:
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > _LOCK_SECONDS:
            lock.unlink()
    try:
        lock.open("x").close()
    except OSError:
        return False
    return True
