"""Flushing an embedded store while nobody writes, so that it opens at once after a crash."""

import asyncio
import time
from contextlib import suppress
from typing import Final

from service.errors import ServiceError
from service.store.allocator import give_back
from service.store.database import Database

_LOOK_SECONDS: Final = 2.0
_QUIET_SECONDS: Final = 5.0


async def keep_flushing(db: Database) -> None:
    """Flush whenever much lies in the log alone and nothing was written for five seconds.

    After a write on a full disk: make the store ready for the next as soon as there is room.
    """
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if db.room.full is not None:
            with suppress(ServiceError):
                await db.recover()
            continue
        if time.monotonic() - db.last_write >= _QUIET_SECONDS and db.address.may_flush():
            await db.flush()
            # What the engine let go of stays with the allocator.
            await give_back()
