"""Flushing an embedded store, so that it opens at once after a crash and gives back its RAM."""

import asyncio
import time
from contextlib import suppress
from typing import Final

from service.errors import ServiceError
from service.store.database import Database

_LOOK_SECONDS: Final = 2.0
_QUIET_SECONDS: Final = 5.0


async def keep_flushing(db: Database) -> None:
    """Flush whenever much lies in the log alone and nothing was written for five seconds.

    Whenever the process has grown by much while the store was asked, flush at once. After a write
    on a full disk: make the store ready for the next as soon as there is room.
    """
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if db.room.full is not None:
            with suppress(ServiceError):
                await db.recover()
            continue
        is_quiet = time.monotonic() - db.last_write >= _QUIET_SECONDS
        if (is_quiet and db.address.may_flush()) or _has_grown(db):
            await db.flush()


def _has_grown(db: Database) -> bool:
    address = db.address
    return bool(address.folder) and db.memory.has_grown(address.log_bytes)
